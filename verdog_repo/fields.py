"""Strict reading of a JSON object: each field is taken once, with its type, and none may be left over."""

from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

from verdog_objects.canonical import Json
from verdog_objects.errors import Corrupt, InvalidInput
from verdog_objects.oid import Oid, format_oid, parse_oid

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


class Fields:
    """The fields of one object, being taken.

    Every method raises `Corrupt` when the field is missing or of another type; the message names it.
    """

    __slots__ = ("_left", "_what")

    def __init__(self, value: Json, what: str) -> None:
        if not isinstance(value, dict):
            raise Corrupt(f"{what} is no object")
        self._left = dict(value)
        self._what = what

    def take(self, name: str) -> Json:
        """Take a field of any type."""
        try:
            return self._left.pop(name)
        except KeyError:
            raise Corrupt(f"{self._what} has no {name!r}") from None

    def fail(self, name: str, expected: str) -> Corrupt:
        """Return the error for a field that is not what was expected."""
        return Corrupt(f"{self._what}: {name!r} is not {expected}")

    def text(self, name: str) -> str:
        """Take a text."""
        value = self.take(name)
        if isinstance(value, str):
            return value
        raise self.fail(name, "text")

    def integer(self, name: str, minimum: int = 0) -> int:
        """Take an integer of at least `minimum`."""
        value = self.take(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= minimum:
            return value
        raise self.fail(name, f"an integer of at least {minimum}")

    def positive(self, name: str) -> int:
        """Take an integer of at least 1."""
        return self.integer(name, 1)

    def flag(self, name: str) -> bool:
        """Take true or false."""
        value = self.take(name)
        if isinstance(value, bool):
            return value
        raise self.fail(name, "true or false")

    def oid(self, name: str) -> Oid:
        """Take an object id."""
        return self._parsed(name, self.text(name), parse_oid)

    def parsed(self, name: str, parse: Callable[[str], T]) -> T:
        """Take a text and parse it. What the parser refuses is `Corrupt`."""
        return self._parsed(name, self.text(name), parse)

    def choice(self, name: str, choices: type[E]) -> E:
        """Take a text that is the value of one of an enumeration's members."""
        text = self.text(name)
        try:
            return choices(text)
        except ValueError:
            raise self.fail(name, "one of " + ", ".join(each.value for each in choices)) from None

    def optional(self, name: str, take: Callable[[str], T]) -> T | None:
        """Take a field with one of the methods above, or None for null."""
        if name in self._left and self._left[name] is None:
            del self._left[name]
            return None
        return take(name)

    def items(self, name: str) -> list[Json]:
        """Take a list."""
        value = self.take(name)
        if isinstance(value, list):
            return value
        raise self.fail(name, "a list")

    def mapping(self, name: str) -> dict[str, Json]:
        """Take an object whose fields mean nothing here."""
        value = self.take(name)
        if isinstance(value, dict):
            return value
        raise self.fail(name, "an object")

    def texts(self, name: str) -> tuple[str, ...]:
        """Take a list of texts."""
        values = self.items(name)
        texts = tuple(value for value in values if isinstance(value, str))
        if len(texts) != len(values):
            raise self.fail(name, "a list of texts")
        return texts

    def oids(self, name: str) -> tuple[Oid, ...]:
        """Take a list of object ids."""
        return tuple(self._parsed(name, text, parse_oid) for text in self.texts(name))

    def done(self) -> None:
        """Raise `Corrupt` if a field was not taken."""
        if self._left:
            raise Corrupt(f"{self._what} has unknown fields: {', '.join(map(repr, sorted(self._left)))}")

    def _parsed(self, name: str, text: str, parse: Callable[[str], T]) -> T:
        try:
            return parse(text)
        except InvalidInput as error:
            raise Corrupt(f"{self._what}: {name!r}: {error}") from error


def format_optional(oid: Oid | None) -> str | None:
    """Return an optional object id as JSON."""
    return None if oid is None else format_oid(oid)
