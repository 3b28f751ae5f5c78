"""What goes wrong between a value and its bytes."""

from typing import Self

from verdog_objects.errors import InvalidInput, NotRestorable

_SHOWN_CHARS = 300


class Located(Exception):
    """What is wrong with a part of a value, and where in the value that part is.

    Attributes:
        path: where it is, as `input.items[3].callback`.
        reason: what is wrong with it.
    """

    path: str = ""
    reason: str = ""

    def below(self, step: str) -> Self:
        """Say that the value is in a part of what encloses it, and return this error."""
        self.path = step + self.path
        return self

    def __str__(self) -> str:
        path = self.path
        if len(path) > _SHOWN_CHARS:
            path = f"{path[: _SHOWN_CHARS // 2]} ... {path[-_SHOWN_CHARS // 2 :]}"
        return f"{path}: {self.reason}" if path else self.reason


class UnserializableValue(Located, InvalidInput):
    """A value that cannot be kept: neither the codec nor cloudpickle can write it."""

    kind = "unserializable_value"

    def __init__(self, reason: str, path: str = "") -> None:
        InvalidInput.__init__(self, reason)
        self.reason = reason
        self.path = path


class TypeMismatch(Located, InvalidInput):
    """A stored value whose type is not there now, or is not what it was.

    Attributes:
        type_name: module and qualified name of the type, as `module:Class`.
    """

    kind = "type_mismatch"

    def __init__(self, type_name: str, problem: str) -> None:
        InvalidInput.__init__(self, f"{type_name}: {problem}")
        self.reason = f"{type_name}: {problem}"
        self.type_name = type_name


class UntrustedValue(Located, InvalidInput):
    """A stored value whose decoding could run foreign code, which was not allowed."""

    kind = "untrusted_value"

    def __init__(self, reason: str) -> None:
        InvalidInput.__init__(self, reason)
        self.reason = reason


class UnrestorableValue(Located, NotRestorable):
    """A stored value that cannot be made again, because its own code raises.

    Attributes:
        hint: what can be done.
    """

    def __init__(self, what: str, error: BaseException) -> None:
        reason = f"the stored {what} cannot be made again: its own code raised {_describe(error)}"
        NotRestorable.__init__(self, reason, code="checkpoint.value_unrestorable")
        self.reason = reason
        self.hint = "mend that code and go on with --allow-changed-code, or restart the run"


def _describe(error: BaseException) -> str:
    """Return the class of an error and the first line that it says."""
    try:
        text = str(error).strip().partition("\n")[0]
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
