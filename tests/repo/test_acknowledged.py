import pytest

from tests.repo.samples import Script
from verdog_objects.errors import Corrupt
from verdog_repo.acknowledged import Acknowledged, check_acknowledged, format_line, parse_last_line
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.names import CommitId, RunId

RUN = RunId("run")


@pytest.fixture
def commits(script: Script) -> list[Checkpoint]:
    """The three checkpoints of a run."""
    script.run("run")
    return script.commits("run", 3)


def acknowledged(checkpoint: Checkpoint) -> Acknowledged:
    return Acknowledged(run=checkpoint.run, sequence=checkpoint.sequence, commit=checkpoint.commit)


def test_a_line_survives_its_bytes(commits: list[Checkpoint]) -> None:
    assert parse_last_line(format_line(commits[1])) == acknowledged(commits[1])


def test_the_last_whole_line_counts(commits: list[Checkpoint]) -> None:
    lines = [format_line(each) for each in commits]
    assert parse_last_line(b"".join(lines)) == acknowledged(commits[2])
    assert parse_last_line(lines[0] + lines[1] + lines[2][:-1]) == acknowledged(commits[1])
    assert parse_last_line(lines[0][20:] + lines[1]) == acknowledged(commits[1])
    assert parse_last_line(lines[0] + b"\0" * 100 + b"\n") == acknowledged(commits[0])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"{}\n",
        b"[]\n",
        b"\xff\n",
        b"1\n",
        b"[" * 9999 + b"\n",
        b'{"run":"a","sequence":0,"commit":"x"}\n',
        b'{"run":"a","sequence":1,"commit":"x"}\n',
        b'{"run":"a","sequence":true,"commit":"%b"}\n' % (b"0" * 40),
    ],
)
def test_a_file_without_a_line_acknowledges_nothing(data: bytes) -> None:
    assert parse_last_line(data) is None


@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_ref_at_or_after_the_last_line_is_sound(
    script: Script, commits: list[Checkpoint], index: int
) -> None:
    check_acknowledged(script.repository.catalog, RUN, acknowledged(commits[index]))
    check_acknowledged(script.repository.catalog, RUN, format_line(commits[index]))


def test_a_run_that_acknowledged_nothing_is_sound(script: Script, commits: list[Checkpoint]) -> None:
    check_acknowledged(script.repository.catalog, RUN, None)
    check_acknowledged(script.repository.catalog, RUN, b"")


def test_a_ref_behind_the_last_line_is_corrupt(script: Script, commits: list[Checkpoint]) -> None:
    lost = Acknowledged(run=RUN, sequence=4, commit=CommitId(b"\1" * 20))
    with pytest.raises(Corrupt, match="ends at checkpoint 3, but checkpoint 4"):
        check_acknowledged(script.repository.catalog, RUN, lost)


def test_another_history_than_the_acknowledged_one_is_corrupt(
    script: Script, commits: list[Checkpoint]
) -> None:
    other = Acknowledged(run=RUN, sequence=2, commit=CommitId(b"\1" * 20))
    with pytest.raises(Corrupt, match="checkpoint 2 is commit"):
        check_acknowledged(script.repository.catalog, RUN, other)


def test_a_run_without_the_acknowledged_checkpoint_is_corrupt(
    script: Script, commits: list[Checkpoint]
) -> None:
    script.run("empty")
    line = Acknowledged(run="empty", sequence=1, commit=commits[0].commit)
    with pytest.raises(Corrupt, match="has no checkpoint"):
        check_acknowledged(script.repository.catalog, RunId("empty"), line)


def test_the_lines_of_another_run_are_corrupt(script: Script, commits: list[Checkpoint]) -> None:
    script.run("other")
    with pytest.raises(Corrupt, match="speaks of run run"):
        check_acknowledged(script.repository.catalog, RunId("other"), acknowledged(commits[0]))
