"""Artifact paths as text: any bytes on one printable line, and back."""

from verdog_objects.errors import InvalidInput

RESERVED_NAME = b".verdog"
"""The name of the directories that verdog keeps for itself."""

_NAMED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_NAMED_BACK = {"\\": b"\\", "n": b"\n", "r": b"\r", "t": b"\t"}
_HEX_DIGITS = frozenset("0123456789abcdef")


def escape_path(path: bytes) -> str:
    r"""Return a path as printable text on one line; two paths never give the same text.

    Printable characters stay as they are. A backslash is doubled, newline, carriage return and tab become
    `\n`, `\r` and `\t`, and every byte of anything else (control characters, bytes that are not UTF-8,
    invisible and direction-changing characters) becomes `\x` and two hexadecimal digits.
    """
    text = path.decode("utf-8", "surrogateescape")
    if "\\" not in text and text.isprintable():
        return text
    return "".join(_escape_character(each) for each in text)


def is_reserved(path: bytes, *, is_directory: bool) -> bool:
    """Return whether a path of a tree would be, in the directory it is written to, one that verdog trusts.

    No capture records such a path. A tree that has one was made to plant a store or the record of a run.
    """
    directory, _, name = path.rpartition(b"/")
    return name == RESERVED_NAME and (is_directory or not directory)


def unescape_path(text: str) -> bytes:
    """Return the path that `escape_path` wrote as this text.

    Raises:
        InvalidInput: a backslash that begins no escape.
    """
    parts = text.split("\\")
    path = bytearray(_encode(parts[0]))
    index = 1
    while index < len(parts):
        part = parts[index]
        if not part and index + 1 < len(parts):  # a doubled backslash
            path += b"\\" + _encode(parts[index + 1])
            index += 2
            continue
        path += _unescape_one(part, text)
        index += 1
    return bytes(path)


def _escape_character(character: str) -> str:
    named = _NAMED.get(character)
    if named is not None:
        return named
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))


def _unescape_one(part: str, text: str) -> bytes:
    named = _NAMED_BACK.get(part[:1])
    if named is not None:
        return named + _encode(part[1:])
    digits = part[1:3]
    if part[:1] == "x" and len(digits) == 2 and _HEX_DIGITS.issuperset(digits):
        return bytes.fromhex(digits) + _encode(part[3:])
    raise InvalidInput(f"{text!r} has a backslash that begins no escape")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
