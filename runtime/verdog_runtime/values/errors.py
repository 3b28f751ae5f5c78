"""What goes wrong between a value and its bytes."""

from verdog_objects.errors import InvalidInput

_SHOWN_CHARS = 300


class UnserializableValue(InvalidInput):
    """A value that cannot be kept: neither the codec nor cloudpickle can write it.

    Attributes:
        path: where in the value it is, as `input.items[3].callback`.
        reason: what is wrong with it.
    """

    kind = "unserializable_value"

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path

    def below(self, step: str) -> "UnserializableValue":
        """Say that the value is in a part of what encloses it, and return this error."""
        self.path = step + self.path
        return self

    def __str__(self) -> str:
        path = self.path
        if len(path) > _SHOWN_CHARS:
            path = f"{path[: _SHOWN_CHARS // 2]} ... {path[-_SHOWN_CHARS // 2 :]}"
        return f"{path}: {self.reason}" if path else self.reason


class TypeMismatch(InvalidInput):
    """A stored value whose type is not there now, or is not what it was.

    Attributes:
        type_name: module and qualified name of the type, as `module:Class`.
    """

    kind = "type_mismatch"

    def __init__(self, type_name: str, problem: str) -> None:
        super().__init__(f"{type_name}: {problem}")
        self.type_name = type_name


class UntrustedValue(InvalidInput):
    """A stored value whose decoding could run foreign code, which was not allowed."""

    kind = "untrusted_value"
