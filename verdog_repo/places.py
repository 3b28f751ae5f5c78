"""Places: where in a run a node is, as it is written in revisions and listings."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verdog_repo.record import Boundary

Step = tuple[str, int]
"""A node's id, and the number of one of its visits."""


def format_place(boundary: "Boundary") -> str:
    """Return the node with the calls that lead to it, as `call#1/child`, on one line.

    Characters of a node's id that mean something in a revision, or cannot be seen, are percent-encoded.
    """
    node = escape_node(boundary.node)
    if not boundary.call_path:
        return node
    return f"{_escape(boundary.call_path, '#/')}/{node}"


def parse_place(place: str) -> tuple[tuple[Step, ...], str]:
    """Return the calls of a place that `format_place` wrote, each with its number, and the node."""
    *calls, node = place.split("/")
    return tuple(_parse_call(call) for call in calls), unescape_node(node)


def _parse_call(call: str) -> Step:
    node, _, number = call.rpartition("#")
    if node and number.isascii() and number.isdigit() and len(number) < 19:
        return unescape_node(node), int(number)
    return unescape_node(call), 0


def escape_node(node: str) -> str:
    """Return a node's id as it is written in a revision."""
    return _escape(node, "")


def unescape_node(text: str) -> str:
    """Return the node's id that `escape_node` was given."""
    head, *escaped = text.split("%")
    data = head.encode("utf-8", "surrogatepass")
    try:
        for part in escaped:
            data += bytes.fromhex(part[:2]) + part[2:].encode("utf-8", "surrogatepass")
        return data.decode("utf-8", "surrogatepass")
    except ValueError:  # of no escaped node
        return text


def _escape(text: str, also: str) -> str:
    if text.isascii() and text.isidentifier():
        return text
    return "".join(_escape_character(character, also) for character in text)


def _escape_character(character: str, also: str) -> str:
    if character in also or character in "._-" or (character.isprintable() and character.isalnum()):
        return character
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
