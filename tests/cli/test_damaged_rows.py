"""A flipped value in a row that `log` lists: named before anything relies on it, written anew by a repair."""

import json
from pathlib import Path

import apsw
import pytest

from tests.cli.workflows import FAILS_ONCE, countdown
from tests.commandline import Verdog


@pytest.fixture
def damaged(verdog: Verdog, project: Path) -> Path:
    """A failed run with a checkpoint 6, the latest that can be resumed, whose row lies about its duration."""
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    assert verdog("run", "flow.py", "--run-id", "first", "--output-dir", "out").code == 1
    connection = apsw.Connection(str(project / ".verdog/store/store.db"))
    connection.execute("UPDATE checkpoints SET duration_ns = 777000000000 WHERE sequence = 6")
    assert connection.changes() == 1
    connection.close()
    (project / "mended").touch()
    return project


def test_fsck_names_it(verdog: Verdog, damaged: Path) -> None:
    result = verdog("fsck")
    assert result.code == 1
    assert "run first checkpoint 6: it is listed with another duration_ns" in result.out


@pytest.mark.parametrize(
    "words", [("show", "first@6"), ("fork", "first@6", "--sessions", "fresh"), ("resume", "first")]
)
def test_what_relies_on_it_is_refused(verdog: Verdog, damaged: Path, words: tuple[str, ...]) -> None:
    result = verdog(*words)
    assert result.code == 4
    assert "checkpoint 6 is listed with another duration_ns, not what its record says" in result.err
    assert "verdog fsck --read-data --repair" in result.err


def test_what_does_not_rely_on_it_works(verdog: Verdog, damaged: Path) -> None:
    assert verdog("show", "first@5").code == 0
    assert verdog("log", "first").code == 0


def test_a_repair_writes_it_anew(verdog: Verdog, damaged: Path) -> None:
    result = verdog("fsck", "--read-data", "--repair")
    assert result.code == 1
    assert "1 row of the checkpoints table written anew from the records" in result.out
    assert "stored anew when a run records" not in result.out
    assert verdog("fsck", "--read-data").code == 0
    assert verdog("resume", "first").code == 0


def test_a_repair_tells_a_program_which_rows(verdog: Verdog, damaged: Path) -> None:
    document = json.loads(verdog("fsck", "--read-data", "--repair", "--json").out)
    (row,) = document["rows"]
    assert (row["run"], row["checkpoint"]) == ("first", 6)


def test_a_repair_makes_a_wrong_list_of_objects_anew(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    assert verdog("run", "flow.py", "--run-id", "first").code == 1
    connection = apsw.Connection(str(project / ".verdog/store/store.db"))
    connection.execute("UPDATE meta SET value = 1000 WHERE name = 'named'")  # yet none is listed
    connection.close()
    (project / "mended").touch()
    assert verdog("resume", "first").code == 4
    assert "objects are not listed under their ids" in verdog("fsck").out
    assert "was made anew from the objects" in verdog("fsck", "--read-data", "--repair").out
    assert verdog("fsck", "--read-data").code == 0
    assert verdog("resume", "first").code == 0
