"""Errors as an exit code, one sentence and a hint."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import click

from verdog_cli.context import Context
from verdog_cli.exits import BUSY, CANCELLED, CORRUPT, FAILED, UNAVAILABLE, USAGE, RunEnded
from verdog_cli.group import TailCommand
from verdog_cli.messages import format_hint
from verdog_cli.render import exact, harmless
from verdog_objects.errors import (
    Ambiguous,
    Busy,
    Conflict,
    Corrupt,
    FormatUnsupported,
    InvalidInput,
    Missing,
    NotFound,
    NotRestorable,
    Unavailable,
    VerdogError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What a person, or a program, needs to know about an error.

    Attributes:
        kind: the stable name of the class of error.
        code: the stable machine code, if the error has one.
        message: one sentence naming the thing; empty when everything was said.
        hint: what to do next, or None.
        paths: every path the error is about, byte-exact.
        details: what else a program may want to know, by name.
        expected: an error raised on purpose; the others are faults of verdog.
    """

    exit_code: int
    kind: str
    message: str
    code: str | None = None
    hint: str | None = None
    paths: tuple[bytes, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    expected: bool = True

    def as_json(self) -> dict[str, object]:
        """Return the `error` member of a JSON document."""
        return {
            "kind": self.kind,
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "paths": [exact(path) for path in self.paths],
            "details": dict(self.details),
        }


_CATEGORIES: tuple[tuple[type[VerdogError], int, str | None], ...] = (
    (Missing, CORRUPT, "`verdog fsck` says what is damaged and which runs it touches"),
    (Ambiguous, USAGE, None),
    (NotFound, USAGE, None),
    (Conflict, BUSY, "it changed while this command was at work; try again"),
    (Busy, BUSY, "wait until it ends, or stop that process"),
    (Corrupt, CORRUPT, "`verdog fsck` says what is damaged and which runs it touches"),
    (FormatUnsupported, USAGE, "it was written by a newer verdog; update this one"),
    (
        NotRestorable,
        FAILED,
        "`verdog checkpoints RUN` shows which checkpoints can be used; "
        "`verdog restart RUN --sessions fresh` begins again",
    ),
    (InvalidInput, USAGE, None),
    (Unavailable, UNAVAILABLE, None),
)


_INTEGRITY_HINT = (
    "`verdog restore RUN` puts the files back as they were, and so does `verdog resume RUN --restore`; "
    "`verdog status RUN` lists what differs"
)

_CANDIDATES = 3
"""An ambiguous name with more meanings is not answered with all of them."""


def describe(error: BaseException) -> Failure:
    """Return what is to be said about an error."""
    if isinstance(error, RunEnded):
        return Failure(exit_code=error.exit_code, kind="run", message="")
    if isinstance(error, click.Abort) or _is_interrupted(error):
        return Failure(exit_code=CANCELLED, kind="cancelled", message="Cancelled.")
    if isinstance(error, click.ClickException):
        return _describe_usage(error)
    if isinstance(error, VerdogError):
        return _describe_own(error)
    return _describe_foreign(error)


def _is_interrupted(error: BaseException | None) -> bool:
    """Return whether an error is Ctrl+C, or what some library made of it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _describe_usage(error: click.ClickException) -> Failure:
    message, hint = _usage_message(error), _hint_of(error)
    if isinstance(error, click.NoSuchOption):
        where = error.ctx.command_path if error.ctx else "verdog"
        message = f"{where} has no option {error.option_name}"
        if error.possibilities:
            hint = f"did you mean {' or '.join(sorted(error.possibilities))}?"
        elif error.ctx and isinstance(error.ctx.command, TailCommand) and "." in error.option_name:
            hint = f"the workflow's own arguments follow --, as in `{where} ... -- {error.option_name} ...`"
    if (
        isinstance(error, click.MissingParameter)
        and error.param is not None
        and error.param.name == "sessions"
    ):
        hint = "a workflow without agents has no conversations to branch: `--sessions fresh`"
    if hint is None and isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f"{error.ctx.command_path} --help"
    return Failure(exit_code=USAGE, kind="usage", message=message, hint=hint)


def _usage_message(error: click.ClickException) -> str:
    """Return click's complaint in our words: lower case, one line, the thing first."""
    if not isinstance(error, click.BadParameter) or error.param is None:
        return error.format_message()
    option = isinstance(error.param, click.Option)
    name = error.param.opts[0] if option else error.param.make_metavar(error.ctx) if error.ctx else ""
    if isinstance(error, click.MissingParameter):
        where = error.ctx.command_path if error.ctx else "verdog"
        choices = error.param.type.choices if isinstance(error.param.type, click.Choice) else ()
        return f"{where} needs {name} {' or '.join(map(str, choices))}".rstrip()
    return f"{name}: {error.message[:1].lower()}{error.message[1:]}".rstrip(".")


def _describe_own(error: VerdogError) -> Failure:
    exit_code, hint = next(
        ((exit_code, hint) for category, exit_code, hint in _CATEGORIES if isinstance(error, category)),
        (FAILED, None),
    )
    if isinstance(error, Ambiguous) and error.candidates:
        hint = _choose_among(error)
    return Failure(
        exit_code=exit_code,
        kind=error.kind,
        code=_code_of(error),
        message=str(error),
        hint=_hint_of(error) or hint,
        paths=error.paths,
    )


def _choose_among(error: Ambiguous) -> str | None:
    """Return what an ambiguous name could be, unless the error says so or there are too many to read."""
    if len(error.candidates) > _CANDIDATES:
        return "`verdog runs` lists them"
    if all(each in str(error) for each in error.candidates):
        return None
    return "it could be " + ", ".join(error.candidates)


def _describe_foreign(error: BaseException) -> Failure:
    """Describe an error that is none of the tree: the runtime's public classes, the system's, or a fault."""
    names = {each.__name__ for each in type(error).__mro__}
    code = _code_of(error)
    if "ExecutionCancelled" in names:
        return Failure(exit_code=CANCELLED, kind="cancelled", message="Cancelled.")
    if "IntegrityError" in names:
        return Failure(
            exit_code=CORRUPT,
            kind="integrity",
            code=code,
            message=str(error),
            paths=_paths_of(error),
            hint=_hint_of(error) or _INTEGRITY_HINT,
        )
    if "RunStoreError" in names:
        exit_code = _STORE_CODES.get((code or "").partition(".")[2], FAILED)
        return Failure(
            exit_code=exit_code,
            kind="run",
            code=code,
            message=str(error),
            hint=_hint_of(error),
            details=_details_of(error),
        )
    if isinstance(error, OSError):
        return Failure(exit_code=UNAVAILABLE, kind="unavailable", message=_system_sentence(error))
    return Failure(
        exit_code=FAILED,
        kind="internal",
        message=f"unexpected {type(error).__name__}: {error}",
        hint="this is a fault in verdog; `verdog --traceback ...` shows where",
        expected=False,
    )


_STORE_CODES = {
    "active": BUSY,
    "invalid": USAGE,
    "output_missing": USAGE,
    "not_found": USAGE,
    "selection_ambiguous": USAGE,
    "manifest_unreadable": CORRUPT,
    "manifest_invalid": CORRUPT,
    "control_invalid": CORRUPT,
    "schema_unsupported": USAGE,
    "shard_corrupt": CORRUPT,
    "artifact_corrupt": CORRUPT,
    "artifact_unavailable": CORRUPT,
}
"""Exit codes by the part of a `RunStoreError`'s code after the dot; every other is `FAILED`."""


def _code_of(error: BaseException) -> str | None:
    code: object = getattr(error, "code", None)
    return code if isinstance(code, str) else None


def _hint_of(error: BaseException) -> str | None:
    hint: object = getattr(error, "hint", None)
    return hint if isinstance(hint, str) else None


def _details_of(error: BaseException) -> Mapping[str, object]:
    details: object = getattr(error, "details", None)
    return cast("dict[str, object]", details) if isinstance(details, dict) else {}


def _paths_of(error: BaseException) -> tuple[bytes, ...]:
    paths: object = getattr(error, "paths", ())
    if not isinstance(paths, tuple):
        return ()
    return tuple(path for path in cast("tuple[object, ...]", paths) if isinstance(path, bytes))


def _system_sentence(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return f"{error.filename}: {reason}" if error.filename else f"the system refused: {reason}"


def address(failure: Failure, context: Context) -> Failure:
    """Return what is said about an error with commands that can be pasted: where, and about which run."""
    hint = failure.hint
    if hint is not None and context.run is not None:
        hint = re.sub(r"\bRUN\b", context.run, hint)
    hint = None if hint is None else context.paste(hint)
    return replace(failure, message=context.paste(failure.message), hint=hint)


def format_failure(failure: Failure) -> str:
    """Return the sentence of an error, its further paths, and its hint."""
    if not failure.message:
        return ""
    lines = [f"error: {_sentence(failure.message)}"]
    if failure.hint:
        lines.append(format_hint(failure.hint))
    return "\n".join(lines)


def _sentence(message: str) -> str:
    first, *rest = message.split("\n")
    return "\n".join([harmless(first), *(f"  {harmless(line.strip())}" for line in rest)])
