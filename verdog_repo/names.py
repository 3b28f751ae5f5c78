"""Names of runs, tags, labels, commits and operations, parsed once at the edge and valid ever after."""

import re
from typing import Final, NewType

from verdog_objects.errors import InvalidInput

RunId = NewType("RunId", str)
"""A run's id: it names a run in its project, and is also a file name of the lease."""

TagName = NewType("TagName", str)
"""A name given to a checkpoint."""

LabelName = NewType("LabelName", str)
"""A name given to a run."""

CommitId = NewType("CommitId", bytes)
"""20 raw bytes: the SHA-1 that Git gives the commit. Text form: 40 lower-case hexadecimal digits."""

OperationId = NewType("OperationId", str)
"""16 lower-case hexadecimal digits, random: one execution of one command."""

COMMIT_BYTES: Final = 20
PREFIX_DIGITS: Final = 4
"""The fewest characters that may stand for a whole run id or commit id."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
_OPERATION: Final = re.compile(r"[0-9a-f]{16}", re.ASCII)
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]*", re.ASCII)
_RULE: Final = (
    "1 to 128 letters, digits, '.', '_' and '-', beginning with a letter or digit, "
    "without '..', not ending in '.' or '.lock', and not HEAD"
)


def _parse_name(text: object, what: str) -> str:
    if isinstance(text, str) and is_name(text):
        return text
    raise InvalidInput(f"{text!r} cannot be a {what}: {_RULE}")


def is_name(text: str) -> bool:
    """Return whether a run, tag or label may be called this."""
    return (
        _NAME.fullmatch(text) is not None
        and ".." not in text
        and not text.endswith((".", ".lock"))
        and text != "HEAD"
    )


def parse_run_id(text: object) -> RunId:
    """Return a valid run id.

    Raises:
        InvalidInput: the text breaks the rule that the message quotes.
    """
    return RunId(_parse_name(text, "run id"))


def parse_tag_name(text: object) -> TagName:
    """Return a valid tag name. Raises `InvalidInput` for any other text."""
    return TagName(_parse_name(text, "tag"))


def parse_label_name(text: object) -> LabelName:
    """Return a valid label. Raises `InvalidInput` for any other text."""
    return LabelName(_parse_name(text, "label"))


def parse_operation_id(text: object) -> OperationId:
    """Return a valid operation id. Raises `InvalidInput` for any other text."""
    if isinstance(text, str) and _OPERATION.fullmatch(text):
        return OperationId(text)
    raise InvalidInput(f"{text!r} is no operation id: 16 hexadecimal digits expected")


def parse_commit_id(text: str) -> CommitId:
    """Return the commit id written as 40 lower-case hexadecimal digits. Raises `InvalidInput` otherwise."""
    if len(text) == 2 * COMMIT_BYTES and is_hexadecimal(text):
        return CommitId(bytes.fromhex(text))
    raise InvalidInput(f"{text!r} is no commit id: 40 hexadecimal digits expected")


def format_commit_id(commit: CommitId) -> str:
    """Return a commit id as 40 hexadecimal digits."""
    return commit.hex()


def is_hexadecimal(text: str) -> bool:
    """Return whether a text has lower-case hexadecimal digits only."""
    return _HEXADECIMAL.fullmatch(text) is not None


def prefix_bounds(digits: str) -> tuple[bytes, bytes | None]:
    """Return the first commit id with these digits in front, and the first one after all of them, if any."""
    first = bytes.fromhex(digits.ljust(2 * COMMIT_BYTES, "0"))
    beyond = int(digits, 16) + 1
    if beyond >> (4 * len(digits)):
        return first, None
    return first, bytes.fromhex(f"{beyond:0{len(digits)}x}".ljust(2 * COMMIT_BYTES, "0"))
