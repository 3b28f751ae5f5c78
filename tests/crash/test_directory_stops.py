"""`restore`, `checkout` and `fork` stopped before any change of the disk: the next command makes it whole."""

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.workflows import countdown
from tests.commandline import Verdog
from tests.crash.stops import STOPPED, run_stopped
from tests.objects.trees import UnsyncedDisk, snapshot
from verdog_cli.application import run_application
from verdog_objects import durable
from verdog_repo.names import RunId
from verdog_repo.repository import Repository

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.usefixtures("durable_disk"),
]

BODY = """here = context.output_dir
(here / "sub").mkdir()
(here / "sub" / "file").write_bytes(b"%d" % state.taken * 40_000)
(here / "sub" / "file").chmod(0o640)
(here / "empty").mkdir()
(here / "link").symlink_to("sub/file")
(here / "sub").chmod(0o555)"""


@pytest.fixture(autouse=True)
def no_waiting():
    with durable.replaced(UnsyncedDisk()):
        yield


@pytest.fixture
def recorded(verdog: Verdog, project: Path) -> Path:
    """A project with one run, whose directory is `out`; beside the project is something of somebody else."""
    (project / "flow.py").write_text(countdown(BODY))
    arguments = ("--run-id", "first", "--output-dir", "out", "--", "--input.value", "1")
    assert verdog("run", "flow.py", *arguments).code == 0
    (project.parent / "outside").mkdir()
    (project.parent / "outside" / "file").write_bytes(b"outside")
    return project


def damage(output: Path, outside: Path) -> None:
    """Change something of every kind."""
    (output / "work/000001/sub").chmod(0o755)
    (output / "work/000001/sub/file").unlink()
    (output / "work/000001/sub").chmod(0o555)
    shutil.rmtree(output / "work/000001/empty")
    (output / "work/000001/empty").symlink_to(outside)
    (output / "work/000001/link").unlink()
    (output / "work/000001/link").symlink_to(outside / "file")
    (output / "work/000001/n.txt").write_bytes(b"edited")
    (output / "work/000002/sub").chmod(0o755)
    (output / "work/000002/sub").rename(outside / "moved")
    (output / "work/000002/sub").symlink_to(outside / "moved")
    (output / "work/000002/n.txt").chmod(0o600)
    (output / "work/mine").write_bytes(b"mine")


def files_of(output: Path) -> dict[bytes, tuple[int, bytes]]:
    """Return everything in a directory but what verdog keeps there itself."""
    found = snapshot(output).items()
    return {
        path: each
        for path, each in found
        if not path.startswith((b".verdog", b"trace.log", b"config.md", b"stats.md"))
    }


def names_in(directory: Path) -> set[str]:
    return {each.name for each in directory.iterdir()}


def stop_everywhere(
    project: Path, command: list[str], look: Callable[[Path, int, list[str]], None], step: int = 1
) -> list[str]:
    """Stop a command after any number of changes, each time in a fresh project of the same name.

    Args:
        project: what it begins from. It is put aside and comes back.
        command: its arguments.
        look: is called with the project, the exit code and the changes that were made.
        step: stop after every so many.

    Returns:
        All its changes.
    """
    kept = project.with_name("kept")
    project.rename(kept)

    def attempt(stop: int | None) -> tuple[int, list[str]]:
        shutil.copytree(kept, project, symlinks=True)
        os.chdir(project)
        return run_stopped(lambda: run_application(command), stop)

    code, changes = attempt(None)
    assert code == 0
    look(project, code, changes)
    shutil.rmtree(project)
    for stop in range(0, len(changes), step):
        code, made = attempt(stop)
        try:
            assert code == STOPPED
            look(project, code, made)
        except BaseException as error:
            error.add_note(f"stopped after {stop} of {len(changes)} changes, before {changes[stop]}")
            raise
        shutil.rmtree(project)
    kept.rename(project)
    os.chdir(project)
    return changes


@pytest.mark.parametrize("step", [16, pytest.param(1, marks=pytest.mark.slow)])
def test_a_restore_that_is_stopped_anywhere_leaves_each_path_old_or_new_and_can_be_repeated(
    verdog: Verdog, recorded: Path, step: int
) -> None:
    outside = recorded.parent / "outside"
    whole = files_of(recorded / "out")
    control = names_in(recorded / "out/.verdog")
    damage(recorded / "out", outside)
    broken, elsewhere = files_of(recorded / "out"), snapshot(outside)

    def look(project: Path, code: int, changes: list[str]) -> None:
        found = files_of(project / "out")
        for path in found.keys() | broken.keys() | whole.keys():
            contents = [tree.get(path, (0, None))[1] for tree in (found, broken, whole)]
            # A directory cannot take the place of a link in one step.
            gap = path in broken and stat.S_ISDIR(whole.get(path, (0,))[0]) and path not in found
            assert gap or contents[0] in contents[1:], path
        assert snapshot(outside) == elsewhere
        assert verdog("status", "first").code in ((0, 1) if code == STOPPED else (0,))
        assert verdog("restore", "first").code == 0
        assert verdog("status", "first").code == 0
        assert files_of(project / "out") == {**whole, b"work/mine": broken[b"work/mine"]}
        assert names_in(project / "out/.verdog") == control
        assert snapshot(outside) == elsewhere
        assert verdog("fsck", "--read-data").code == 0

    changes = stop_everywhere(recorded, ["restore", "first"], look, step)
    require_synced(changes)


def require_synced(changes: list[str]) -> None:
    """Check that no file takes its place before its content is durable, and that the end is durable, too."""
    place = [number for number, change in enumerate(changes) if change.startswith("os.rename")]
    syncs = [number for number, change in enumerate(changes) if change == "sync everything"]
    staged = max(number for number, change in enumerate(changes) if change.startswith("open b'file'"))
    assert staged < syncs[0] < place[1], "the staged files were not synced before they took their places"
    last = max(number for number, change in enumerate(changes) if "work" in change or "n.txt" in change)
    assert last < syncs[-1], "what was put back was not synced"


def require_synced_before_named(changes: list[str]) -> None:
    """Check that a directory gets its name once all in it is durable, and that the name is durable then."""
    sync = changes.index("sync everything") if "sync everything" in changes else -1
    inside = ("open b", "os.mkdir b", "os.symlink b")
    written = max(number for number, change in enumerate(changes) if change.startswith(inside))
    named = next(number for number, change in enumerate(changes) if change.startswith("os.rename"))
    assert written < sync < named, "the files were not synced before their directory got its name"
    assert changes[named + 1 : named + 2] == ["sync"], "the name was not synced"


@pytest.mark.parametrize(
    "command",
    [
        ["checkout", "first", "copies/copy"],
        ["fork", "first@3", "--sessions", "fresh", "--no-run", "--output-dir", "forked"],
    ],
    ids=["checkout", "fork"],
)
@pytest.mark.parametrize("forgotten", ["sync_tree", "fsync_directory"])
def test_a_directory_that_is_named_without_a_sync_would_be_noticed(
    verdog: Verdog, recorded: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], forgotten: str
) -> None:
    monkeypatch.setattr(durable, forgotten, lambda path: None)
    code, changes = run_stopped(lambda: run_application(command))
    assert code == 0
    with pytest.raises(AssertionError, match="not synced"):
        require_synced_before_named(changes)


def test_a_restore_without_its_last_sync_would_be_noticed(
    verdog: Verdog, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(recorded / "out", recorded.parent / "outside")
    syncs = durable.sync_tree
    monkeypatch.setattr(durable, "sync_tree", lambda path: None if path.name == "out" else syncs(path))
    code, changes = run_stopped(lambda: run_application(["restore", "first"]))
    assert code == 0
    with pytest.raises(AssertionError, match="what was put back was not synced"):
        require_synced(changes)


@pytest.mark.parametrize(
    ("step", "there"),
    [(9, False), (19, True), *(pytest.param(1, there, marks=pytest.mark.slow) for there in (False, True))],
)
def test_a_checkout_that_is_stopped_anywhere_is_whole_or_absent_and_can_be_repeated(
    verdog: Verdog, recorded: Path, step: int, there: bool
) -> None:
    assert verdog("checkout", "first", "../reference").code == 0
    whole = files_of(recorded.parent / "reference")
    if there:
        (recorded / "copies/copy").mkdir(parents=True)

    def look(project: Path, code: int, changes: list[str]) -> None:
        copy = project / "copies/copy"
        made = copy.is_dir() and any(copy.iterdir())
        assert made or code == STOPPED
        assert not there or copy.is_dir()
        assert verdog("checkout", "first", "copies/copy").code == (2 if made else 0)
        assert files_of(copy) == whole
        assert names_in(copy.parent) == {"copy"} or made
        assert verdog("status", "first").code == 0

    changes = stop_everywhere(recorded, ["checkout", "first", "copies/copy"], look, step)
    require_synced_before_named(changes)


@pytest.mark.parametrize("step", [50, pytest.param(1, marks=pytest.mark.slow)])
def test_a_fork_that_is_stopped_anywhere_is_absent_or_goes_on_and_its_source_stays(
    verdog: Verdog, recorded: Path, step: int
) -> None:
    whole = files_of(recorded / "out")
    command = ["fork", "first@3", "--sessions", "fresh", "--no-run", "--output-dir", "forked"]

    def made(project: Path) -> list[RunId]:
        with Repository.open(project, read_only=True) as repository:
            return [each.header.run for each in repository.runs() if each.header.run != "first"]

    def look(project: Path, code: int, changes: list[str]) -> None:
        assert verdog("fsck", "--read-data").code == 0
        assert made(project) or code == STOPPED
        if not made(project):
            assert not (project / "forked").exists(), "there is a directory that no run knows"
            assert verdog(*command).code == 0
        (run,) = made(project)
        assert verdog("resume", run).code == 0
        assert verdog("status", run).code == 0
        assert files_of(project / "forked") == whole == files_of(project / "out")
        assert verdog("fsck", "--read-data").code == 0
        assert not list(project.glob(".verdog-partial*"))

    changes = stop_everywhere(recorded, command, look, step)
    require_synced_before_named(changes)
    filled = changes.index("sync everything")
    named = max(number for number, change in enumerate(changes) if change.startswith("os.rename"))
    assert "database sync" not in changes[:filled], "the fork was recorded before its files were durable"
    assert "database sync" in changes[filled:named], "a directory had the fork's name before there was a run"
