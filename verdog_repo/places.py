"""Places: where in a run a node is, as it is written in revisions and listings."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verdog_repo.record import Boundary


def format_place(boundary: "Boundary") -> str:
    """Return the node with the calls that lead to it, as `call#1/child`, on one line.

    Characters of a node's id that mean something in a revision, or cannot be seen, are percent-encoded.
    """
    node = escape_node(boundary.node)
    if not boundary.call_path:
        return node
    return f"{_escape(boundary.call_path, '#/')}/{node}"


def escape_node(node: str) -> str:
    """Return a node's id as it is written in a revision."""
    return _escape(node, "")


def _escape(text: str, also: str) -> str:
    if text.isascii() and text.isidentifier():
        return text
    return "".join(_escape_character(character, also) for character in text)


def _escape_character(character: str, also: str) -> str:
    if character in also or character in "._-" or (character.isprintable() and character.isalnum()):
        return character
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
