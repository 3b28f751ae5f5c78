import click
import pytest

from verdog_cli.exits import RunEnded, Usage
from verdog_cli.failures import describe, format_failure
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
from verdog_objects.paths import escape_path
from verdog_runtime.refusals import Incompatible


class RunStoreError(ValueError):
    """Stands for the runtime's class of this name, which is known by its name and code."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class IntegrityError(RunStoreError):
    """Stands for the runtime's class of this name."""

    paths = (b"a/b",)


class ExecutionCancelled(BaseException):
    """Stands for the runtime's class of this name."""


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (RunEnded(1), 1),
        (NotRestorable("checkpoint 3 holds a socket", code="x"), 1),
        (Usage("no"), 2),
        (click.UsageError("no"), 2),
        (NotFound("no run x"), 2),
        (Ambiguous("x", candidates=["xa", "xb"]), 2),
        (InvalidInput("no"), 2),
        (FormatUnsupported("format 9"), 2),
        (Corrupt("object x"), 4),
        (Missing("object x is missing"), 4),
        (IntegrityError("2 files changed", "checkpoint.artifact_corrupt"), 4),
        (Busy("run x", owner="process 4"), 5),
        (Conflict("moved"), 5),
        (RunStoreError("held", "run.active"), 5),
        (RunStoreError("gone", "run.output_missing"), 2),
        (RunStoreError("no", "checkpoint.none"), 1),
        (Unavailable("disk full"), 6),
        (OSError(28, "No space left on device", "x"), 6),
        (KeyboardInterrupt(), 130),
        (ExecutionCancelled(), 130),
        (click.Abort(), 130),
        (RuntimeError("boom"), 1),
        (VerdogError("boom"), 1),
    ],
)
def test_each_class_of_error_has_its_exit_code(error: BaseException, exit_code: int) -> None:
    assert describe(error).exit_code == exit_code


@pytest.mark.parametrize("cause", [KeyboardInterrupt(), None])
def test_what_a_library_makes_of_an_interruption_is_one(cause: BaseException | None) -> None:
    """Python 3.11 raises RuntimeError when the body of a class is interrupted."""
    try:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise RuntimeError("Error calling __set_name__") from cause
    except RuntimeError as error:
        assert describe(error).exit_code == 130


def test_an_error_that_is_its_own_context_is_described() -> None:
    error, other = VerdogError("no"), VerdogError("neither")
    error.__context__, other.__context__ = other, error
    assert describe(error).message == "no"


def test_an_ambiguous_name_lists_what_it_could_be() -> None:
    assert describe(Ambiguous("two runs", candidates=["ab12", "ab13"])).hint == "it could be ab12, ab13"


def test_a_name_that_lists_its_meanings_is_not_explained_twice() -> None:
    assert describe(Ambiguous("'ab' may mean ab12, ab13", candidates=["ab12", "ab13"])).hint is None


def test_a_name_of_many_meanings_is_answered_with_a_command() -> None:
    many = [f"ab{number}" for number in range(9)]
    assert describe(Ambiguous("name one of 9 runs", candidates=many)).hint == "`verdog runs` lists them"


def test_a_hint_is_wrapped_between_commands() -> None:
    lines = format_failure(describe(NotRestorable("checkpoint 3 holds a socket", code="x"))).splitlines()
    assert all(line.count("`") % 2 == 0 for line in lines)


def test_names_on_further_lines_are_escaped_once() -> None:
    name = escape_path(b"a\\b\xfe\n")
    text = format_failure(describe(InvalidInput(f"{name} differs:\n  {name}: missing\x1b")))
    assert text.splitlines()[:2] == [f"error: {name} differs:", f"  {name}: missing\\x1b"]


def test_paths_of_an_integrity_error_stay_byte_exact_in_json() -> None:
    assert describe(Corrupt("two files", paths=[b"\xfe"])).as_json()["paths"] == ["\udcfe"]
    assert describe(IntegrityError("x", "y")).paths == (b"a/b",)


def test_what_changed_is_a_list_in_json() -> None:
    differences = ("src/a.py is gone; it was 12", "src/b.py is new; it is 34")
    document = describe(Incompatible("the code changed", differences)).as_json()
    assert document["details"] == {"differences": list(differences)}
    assert describe(NotFound("x")).as_json()["details"] == {}


def test_a_fault_of_our_own_is_told_from_an_expected_error() -> None:
    assert not describe(ZeroDivisionError("x")).expected
    assert describe(NotFound("x")).expected


def test_a_system_error_names_the_file() -> None:
    assert describe(OSError(28, "No space left on device", "a/b")).message == "a/b: no space left on device"
