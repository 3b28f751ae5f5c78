"""The revision grammar: text to a query, without looking at any repository.

```
revision = name [ "@" selector ] { "~" [count] | "^" [count] } [ ":" path ]
range    = revision ".." revision | revision "..." revision      (neither with a path)
selector = number | "-" number | "{" number "}" | place
place    = { node [ "#" count ] "/" } node [ "#" count ]
```
"""

import re
from dataclasses import dataclass
from typing import Final

from verdog_objects.errors import InvalidInput
from verdog_repo.places import escape_node


@dataclass(frozen=True, slots=True)
class Numbered:
    """`@17`: the run's own checkpoint of this number; below 0 it counts from the last (-1)."""

    sequence: int


@dataclass(frozen=True, slots=True)
class Earlier:
    """`@{1}`: what the run's ref pointed at this many moves ago."""

    moves: int


@dataclass(frozen=True, slots=True)
class NodeStep:
    """`node#2`: the second completed visit of a node, or the last without a number."""

    node: str
    ordinal: int | None = None


@dataclass(frozen=True, slots=True)
class Completed:
    """`@call#1/child#2`: the checkpoint after a visit. The steps before the last are calls."""

    steps: tuple[NodeStep, ...]


Selector = Numbered | Earlier | Completed


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionQuery:
    """A revision as it was written.

    Attributes:
        text: all of it.
        name: a run, label, tag, commit, directory or prefix; empty for the only run there is.
        selector: which checkpoint of the run.
        back: how many first parents to go back from there.
        path: a file or directory in the checkpoint; empty for its root.
    """

    text: str
    name: str
    selector: Selector | None = None
    back: int = 0
    path: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeQuery:
    """`A..B`: what B has and A has not. With `symmetric`, `A...B`: what only one of them has."""

    left: RevisionQuery
    right: RevisionQuery
    symmetric: bool = False


_LIMIT: Final = 10**9
_RANGE: Final = re.compile(r"(?<=[^./])(\.\.\.?)(?=[^./])")
_END_OF_NAME: Final = re.compile(r"[@~^]")
_SUFFIX: Final = re.compile(r"(?:[~^][0-9]*)*", re.ASCII)
_STEP_BACK: Final = re.compile(r"([~^])([0-9]*)", re.ASCII)
_NUMBER: Final = re.compile(r"-?[0-9]+", re.ASCII)
_EARLIER: Final = re.compile(r"\{([0-9]+)\}", re.ASCII)


def parse_range(text: str) -> RevisionQuery | RangeQuery:
    """Return the query for a revision or a range of two.

    Raises:
        InvalidInput: the text follows no rule of the grammar; the message says where.
    """
    head, colon, _ = text.partition(":")
    found = _RANGE.search(head)
    if found is None:
        return parse_revision(text)
    if colon:
        raise InvalidInput(f"{text!r}: a range has no path")
    if _RANGE.search(head, found.end()):
        raise InvalidInput(f"{text!r}: a range has two ends")
    return RangeQuery(
        left=parse_revision(head[: found.start()]),
        right=parse_revision(head[found.end() :]),
        symmetric=found[1] == "...",
    )


def parse_revision(text: str) -> RevisionQuery:
    """Return the query for a revision.

    Raises:
        InvalidInput: the text follows no rule of the grammar; the message says where.
    """
    if not text or "\0" in text:
        raise InvalidInput(f"{text!r} is no revision")
    head, colon, path = text.partition(":")
    end = _END_OF_NAME.search(head, 1 if head.startswith("~/") else 0)
    name, rest = (head[: end.start()], head[end.start() :]) if end else (head, "")
    selector: Selector | None = None
    if rest.startswith("@"):
        stop = re.search(r"[~^]", rest)
        chosen, rest = (rest[1 : stop.start()], rest[stop.start() :]) if stop else (rest[1:], "")
        selector = _parse_selector(chosen, text)
    return RevisionQuery(
        text=text,
        name=name,
        selector=selector,
        back=_parse_suffix(rest, text),
        path=_parse_path(path, text) if colon else None,
    )


def _parse_selector(chosen: str, text: str) -> Selector:
    if _NUMBER.fullmatch(chosen):
        sequence = _parse_count(chosen, text)
        if sequence == 0:
            raise InvalidInput(f"{text!r}: checkpoints are numbered from 1, and from -1 for the last")
        return Numbered(sequence)
    earlier = _EARLIER.fullmatch(chosen)
    if earlier:
        return Earlier(_parse_count(earlier[1], text))
    if not chosen or chosen.startswith("{"):
        raise InvalidInput(f"{text!r}: '@' is followed by a number, a node or {{n}}")
    return Completed(tuple(_parse_step(step, text) for step in chosen.split("/")))


def _parse_step(step: str, text: str) -> NodeStep:
    node, mark, ordinal = step.partition("#")
    if not node:
        raise InvalidInput(f"{text!r}: a node is missing in {step!r}")
    if "%" not in node:
        node = escape_node(node)
    if not mark:
        return NodeStep(node)
    if not (ordinal.isascii() and ordinal.isdigit()):
        raise InvalidInput(f"{text!r}: '#' is followed by the number of a visit, not {ordinal!r}")
    number = _parse_count(ordinal, text)
    if number == 0:
        raise InvalidInput(f"{text!r}: visits are numbered from 1")
    return NodeStep(node, number)


def _parse_suffix(suffix: str, text: str) -> int:
    if _SUFFIX.fullmatch(suffix) is None:
        raise InvalidInput(f"{text!r}: only ~ and ^ with numbers may follow, not {suffix!r}")
    back = 0
    for sign, digits in _STEP_BACK.findall(suffix):
        count = _parse_count(digits, text) if digits else 1
        if sign == "^" and count > 1:
            raise InvalidInput(f"{text!r}: a checkpoint has one parent, so ^{count} is none")
        back += count
    return back


def _parse_count(digits: str, text: str) -> int:
    if len(digits) > len(str(_LIMIT)) or abs(int(digits)) > _LIMIT:
        raise InvalidInput(f"{text!r}: {digits[:20]} is too large a number")
    return int(digits)


def _parse_path(path: str, text: str) -> bytes:
    path = path.removeprefix("./").removesuffix("/")
    if path in ("", "."):
        return b""
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise InvalidInput(
            f"{text!r}: {path!r} is no path in a checkpoint: it has an empty part, '.' or '..'"
        )
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{text!r}: {path!r} is no path in a checkpoint") from error
