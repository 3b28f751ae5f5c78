"""`verdog demo`, and every command that it prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from verdog_objects.manifest import iterate
from verdog_objects.oid import Kind
from verdog_repo.names import RunId
from verdog_repo.repository import Repository
from verdog_runtime.values import decode_neutral, find_blobs

PRINTED = re.compile(r"^  ((?:export|cd|verdog) .*)$", re.MULTILINE)


def make_sources(directory: Path) -> Path:
    """Return a directory of packages that take long enough to parse for a run to be killed among them."""
    body = "".join(
        f'def function_{number}(value):\n    """Text."""\n    return [value] * {number}\n\n'
        for number in range(1500)
    )
    for number in range(6):
        package = directory / f"package_{number}"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(body)
    (directory / "package_5" / "broken.py").write_text("print 'no'\n")
    return directory


def shell(script: str, cwd: Path, shims: Path) -> subprocess.CompletedProcess[str]:
    """Run a script of commands in which `verdog` is this interpreter's."""
    shims.mkdir(exist_ok=True)
    shim = shims / "verdog"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m verdog_cli "$@"\n')
    shim.chmod(0o755)
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f'PATH="{shims}:$PATH"\n{script}'],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def check_demo(place: Path, command: str, shims: Path) -> Path:
    """Run the demo and paste every command it printed; return the project that it made."""
    demo = shell(command, place, shims)
    assert demo.returncode == 0, demo.stderr
    commands = PRINTED.findall(demo.stdout)
    assert len(commands) >= 7
    assert "killed with SIGKILL after checkpoint" in demo.stdout
    assert "verdog resume killed" in commands
    pasted = shell("\n".join(commands), place, shims)
    assert pasted.returncode == 0, pasted.stderr
    assert pasted.stderr == ""
    assert "not parsed 1" in pasted.stdout or "--input.limit 12" in demo.stdout
    (entered,) = [each for each in commands if each.startswith("cd ")]
    return place / entered.removeprefix("cd ")


def list_blobs(project: Path) -> list[str]:
    """Return where in any recorded state a value is a blob that only code can read."""
    found: list[str] = []
    with Repository.open(project, read_only=True) as repository:
        for listing in repository.runs():
            tip = repository.tip(listing.header.run)
            assert tip is not None
            for checkpoint in repository.history(tip.commit, 1000):
                state = repository.record(checkpoint).state
                assert state is not None
                for key, entry in iterate(repository.store, state):
                    value = decode_neutral(repository.store.get(Kind.VALUE, entry.oid))
                    found += [f"{checkpoint.sequence} {key!r} {each}" for each in find_blobs(value)]
    return found


def read_report(project: Path, run: str) -> bytes:
    with Repository.open(project, read_only=True) as repository:
        output = project / repository.header(RunId(run)).output_dir
    return (output / "report/000001/report.txt").read_bytes()


@pytest.mark.slow
def test_every_printed_command_works_and_nothing_is_pickled(tmp_path: Path) -> None:
    sources = make_sources(tmp_path / "sources")
    (tmp_path / "place").mkdir()
    demo = f"verdog -C place demo -- --input.source {sources}"
    project = check_demo(tmp_path, demo, tmp_path / "shims")
    assert list_blobs(project) == []
    assert read_report(project, "killed") == read_report(project, "finished")
    with Repository.open(project, read_only=True) as repository:
        assert [each.status for each in repository.runs()] == ["succeeded"] * 3
        assert all(each.restorable for each in repository.runs())


def test_the_demo_does_not_write_into_a_directory_in_use(tmp_path: Path) -> None:
    (tmp_path / "verdog-demo").mkdir()
    (tmp_path / "verdog-demo" / "mine").touch()
    result = shell("verdog demo", tmp_path, tmp_path / "shims")
    assert result.returncode == 2
    assert "verdog-demo is there already" in result.stderr
    assert [path.name for path in (tmp_path / "verdog-demo").iterdir()] == ["mine"]


def test_the_demo_is_a_project_of_its_own_inside_another_one(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    sources = make_sources(tmp_path / "sources")
    result = shell(
        f"verdog demo 'my demo' -- --input.source {sources} --input.limit 2", tmp_path, tmp_path / "s"
    )
    assert result.returncode == 0, result.stderr
    assert "  cd 'my demo'" in result.stdout
    assert not (tmp_path / ".verdog").exists()
    assert (tmp_path / "my demo/.verdog/store/store.db").exists()


@pytest.mark.slow
def test_the_whole_demo_reads_the_standard_library(tmp_path: Path) -> None:
    project = check_demo(tmp_path, "verdog demo", tmp_path / "shims")
    assert list_blobs(project) == []
    assert read_report(project, "killed") == read_report(project, "finished")
