"""The C locale, in which Python knows no letter outside ASCII: the store and its paths are the same there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.workflows import countdown
from tests.commandline import Verdog
from tests.processes import C_LOCALE, shared_starter
from verdog_repo.names import RunId
from verdog_repo.repository import Repository


@pytest.fixture
def in_the_c_locale() -> Verdog:
    """Runs a command line in a process of its own, in the current directory."""
    return shared_starter(in_c_locale=True).run


def header_of(project: Path, run: str) -> tuple[str, str, str]:
    with Repository.open(project, read_only=True) as repository:
        header = repository.header(RunId(run))
    return header.output_dir, header.module, str(header.source)


def registered(project: Path) -> set[str]:
    document = json.loads((project / ".verdog/run-registry.json").read_text("utf-8"))
    return {each["output_dir"] for each in document["runs"]}


@pytest.fixture
def recorded(verdog: Verdog, project: Path) -> Path:
    """A run of a file with such a name, in a directory with such a name, made in the usual locale."""
    (project / "flöw.py").write_text(countdown())
    assert verdog("run", "flöw.py", "--run-id", "first", "--output-dir", "größe").code == 0
    return project


def test_a_directory_is_found_and_compared(recorded: Path, in_the_c_locale: Verdog) -> None:
    assert "absent" not in in_the_c_locale("runs").out
    status = in_the_c_locale("status", "größe")
    assert (status.code, status.err) == (0, "")
    assert "every recorded file is as it was recorded" in status.out


def test_a_fork_is_written_where_it_was_told_and_goes_on(recorded: Path, in_the_c_locale: Verdog) -> None:
    forked = in_the_c_locale("fork", "first@3", "--sessions", "fresh", "--output-dir", "zweig-ü", "--json")
    document = json.loads(forked.out)
    assert (forked.code, forked.err) == (0, f"run {document['run']}\n")
    assert document["output_dir"] == str(recorded / "zweig-ü")
    assert header_of(recorded, document["run"]) == ("zweig-ü", *header_of(recorded, "first")[1:])
    assert registered(recorded) == {str(recorded / "größe"), str(recorded / "zweig-ü")}


def test_a_run_is_stored_as_in_any_other_locale(
    verdog: Verdog, recorded: Path, in_the_c_locale: Verdog
) -> None:
    assert in_the_c_locale("run", "flöw.py", "--run-id", "second", "--output-dir", "maß").code == 0
    assert header_of(recorded, "second") == ("maß", *header_of(recorded, "first")[1:])
    assert verdog("status", "second").code == 0
    assert verdog("fork", "second@3", "--sessions", "fresh").code == 0


def test_a_directory_that_is_gone_is_written_again_under_its_name(
    recorded: Path, in_the_c_locale: Verdog
) -> None:
    (recorded / "größe").rename(recorded / "kept")
    assert in_the_c_locale("restore", "first").code == 0
    assert (recorded / "größe" / "work").is_dir()


def test_a_moved_directory_is_registered(recorded: Path, in_the_c_locale: Verdog) -> None:
    (recorded / "größe").rename(recorded / "straße")
    assert in_the_c_locale("runs", "register", "straße").code == 0
    assert header_of(recorded, "first")[0] == "straße"
    assert registered(recorded) == {str(recorded / "straße")}


@pytest.mark.parametrize("words", [("log", "nö"), ("log", "first@nö"), ("status", "./nö")])
def test_a_name_that_nothing_has_is_not_found(
    recorded: Path, in_the_c_locale: Verdog, words: tuple[str, ...]
) -> None:
    result = in_the_c_locale(*words)
    assert result.code == 2
    assert "nö" in result.err


def test_a_value_that_is_a_path_is_the_same_bytes(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from verdog_runtime.values import encode_value, Anchors; "
        "root, path = sys.argv[1:]; "
        "print(encode_value(Path(path), anchors=Anchors(output=root)).payload.hex())"
    )

    def encode(environment: dict[str, str]) -> str:
        words = [sys.executable, "-c", script, str(tmp_path / "ö"), str(tmp_path / "ö" / "ü")]
        return subprocess.run(
            words, env={**os.environ, **environment}, capture_output=True, text=True, check=True, timeout=60
        ).stdout

    assert encode(C_LOCALE) == encode({})
