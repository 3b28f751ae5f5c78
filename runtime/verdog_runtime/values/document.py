"""Documents: neutral values as JSON for programs. It is for reading; nothing is ever decoded from it."""

import math
from typing import cast

from verdog_runtime.values.anchors import Anchor
from verdog_runtime.values.neutral import Fields, Items, Member, Neutral, Pairs, StoredPath
from verdog_runtime.values.show import format_neutral

Document = None | bool | int | float | str | list["Document"] | dict[str, "Document"]

_PREFIXES = {Anchor.OUTPUT: "<output>/", Anchor.PROJECT: "<project>/", Anchor.NOTHING: ""}


def describe_neutral(value: Neutral) -> Document:
    """Return a value as JSON.

    Records become objects of their fields, sequences and sets become arrays, members of enumerations their
    names, mappings with text keys objects. Bytes are text with backslash escapes, and what JSON has no form
    for is the text that `format_neutral` gives. Floats that JSON cannot hold are texts.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes():
            return value.decode("ascii", "backslashreplace")
        case Fields(fields=fields):
            return {name: describe_neutral(part) for name, part in fields}
        case Items(items=items):
            return [describe_neutral(item) for item in items]
        case Pairs(pairs=pairs):
            if all(isinstance(key, str) for key, _ in pairs):
                return {cast("str", key): describe_neutral(item) for key, item in pairs}
            return [[describe_neutral(key), describe_neutral(item)] for key, item in pairs]
        case Member(member=member):
            return member
        case StoredPath(anchor=anchor, rest=rest):
            return _PREFIXES[anchor] + rest
        case _:
            return format_neutral(value)
