"""The error tree: one class for each thing a handler would do next."""

from collections.abc import Iterable


class VerdogError(Exception):
    """Base of every error that verdog raises on purpose.

    Attributes:
        kind: a stable, machine-readable name of the class of error.
        paths: the artifact paths (bytes, `/`-separated) or object names that the error is about, in full.
    """

    kind = "error"

    def __init__(self, message: str, *, paths: Iterable[bytes] = ()) -> None:
        super().__init__(message)
        self.paths: tuple[bytes, ...] = tuple(paths)


class NotFound(VerdogError, LookupError):
    """A name, id, path or revision that does not exist here."""

    kind = "not_found"

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class Ambiguous(NotFound):
    """A name that stands for more than one thing.

    Attributes:
        candidates: what it could mean, each as text that would be unambiguous.
    """

    kind = "ambiguous"

    def __init__(self, message: str, *, candidates: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.candidates: tuple[str, ...] = tuple(candidates)


class Conflict(VerdogError):
    """A ref moved, or a lease was taken over, since it was read. Reading again and retrying may succeed."""

    kind = "conflict"


class Busy(VerdogError):
    """Somebody else holds the lock.

    Attributes:
        owner: who holds it, as text (process id and host), or None when unknown.
        since_ns: when it was taken, in nanoseconds since the epoch, or None when unknown.
    """

    kind = "busy"

    def __init__(self, message: str, *, owner: str | None = None, since_ns: int | None = None) -> None:
        super().__init__(message)
        self.owner = owner
        self.since_ns = since_ns


class Corrupt(VerdogError):
    """Stored bytes do not match their hash, their checksum or their format."""

    kind = "corrupt"


class Missing(Corrupt, NotFound):
    """An object that something stored refers to is not stored. Nobody but verdog names objects by id."""

    kind = "missing"


class FormatUnsupported(VerdogError):
    """The store or a record was written in a format this version does not know."""

    kind = "format_unsupported"


class InvalidInput(VerdogError, ValueError):
    """The caller passed something that can never work."""

    kind = "invalid_input"


class Unavailable(VerdogError, OSError):
    """The disk, the file system or a remote refused to work now (full, read-only, unreachable)."""

    kind = "unavailable"

    def __init__(self, message: str, *, paths: Iterable[bytes] = ()) -> None:
        VerdogError.__init__(self, message, paths=paths)

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class NotRestorable(VerdogError, ValueError):
    """A checkpoint that exists but cannot be resumed or forked.

    Attributes:
        code: the machine code recorded with the checkpoint, or None.
    """

    kind = "not_restorable"

    def __init__(self, message: str, *, code: str | None = None, paths: Iterable[bytes] = ()) -> None:
        super().__init__(message, paths=paths)
        self.code = code
