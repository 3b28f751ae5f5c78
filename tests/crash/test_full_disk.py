"""A run on a small disk that becomes full: it ends clearly, what it acknowledged stays, and it can go on."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.workflows import countdown
from tests.objects.trees import snapshot

TURNS = 40
BODY = """import random
(context.output_dir / "part").write_bytes(random.Random(state.taken).randbytes(300_000))
(context.output_dir / "small").write_bytes(random.Random(state.taken).randbytes(2_000))
(context.output_dir / "sub").mkdir()"""


def verdog(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one command line in a process of its own, which has a minute."""
    return subprocess.run(
        [sys.executable, "-m", "verdog_cli", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"},
    )


def mount(point: Path, options: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(point)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Where a small disk is mounted."""
    point = tmp_path / "disk"
    point.mkdir()
    yield point
    subprocess.run(["umount", "-l", str(point)], check=True)


def make_project(directory: Path) -> Path:
    project = directory / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    (project / "flow.py").write_text(countdown(BODY))
    return project


def fill(directory: Path) -> Path:
    """Leave no byte free."""
    path = directory / "filler"
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return path


def run(project: Path) -> subprocess.CompletedProcess[str]:
    command = ("run", "flow.py", "--run-id", "first", "--output-dir", "out")
    return verdog(project, *command, "--", "--input.value", str(TURNS))


def files_of(output: Path) -> dict[bytes, tuple[int, bytes]]:
    """Return what the completed visits wrote, but for their numbers, which an attempt cut short uses up."""
    return {
        path.partition(b"/")[0] + b"/" + path.rpartition(b"/")[2] + content: (mode, content)
        for path, (mode, content) in snapshot(output).items()
        if path.startswith(b"work/") and path.count(b"/") > 1
    }


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize("size_mib", [1, 2, 3, 5, 8, 13, 24])
def test_a_run_on_a_disk_that_becomes_full_keeps_what_it_acknowledged_and_goes_on_when_there_is_room(
    tmp_path: Path, disk: Path, size_mib: int
) -> None:
    mount(disk, f"size={size_mib}m")
    project = make_project(disk)
    ended = run(project)
    assert ended.returncode in (1, 6), ended.stderr
    assert "No space left" in ended.stderr or "full" in ended.stderr
    assert "fault in verdog" not in ended.stderr
    print(ended.stdout, ended.stderr)
    index = project / "out/.verdog/checkpoints/index.jsonl"
    lines = index.read_text().rpartition("\n")[0].splitlines() if index.exists() else []
    acknowledged = {each["sequence"]: each["commit"] for each in map(json.loads, lines)}
    filler = fill(disk)
    assert os.statvfs(disk).f_bavail == 0 or filler.stat().st_size == 0
    begun = verdog(project, "runs", "--json")
    if begun.returncode == 2 or not json.loads(begun.stdout)["runs"]:
        assert not acknowledged
    else:
        logged = verdog(project, "log", "first", "--json")
        assert logged.returncode == 0, logged.stderr
        known = {each["checkpoint"]: each["commit"] for each in json.loads(logged.stdout)["checkpoints"]}
        assert acknowledged.items() <= known.items()
        assert verdog(project, "fsck", "--read-data").returncode == 0
        for sequence in [*known][:1] + [*known][-1:]:
            assert verdog(project, "show", f"first@{sequence}").returncode == 0
            copy = tmp_path / f"copy-{sequence}"
            assert verdog(project, "checkout", f"first@{sequence}", str(copy)).returncode == 0
            assert snapshot(copy).items() <= snapshot(project / "out").items()
    filler.unlink()
    mount(disk, "remount,size=200m")
    resumed = verdog(project, "resume", "first")
    if resumed.returncode == 2:  # there had not even been room to begin
        assert not acknowledged
        shutil.rmtree(project / "out", ignore_errors=True)
        resumed = run(project)
    assert resumed.returncode == 0, resumed.stderr
    assert verdog(project, "fsck", "--read-data").returncode == 0
    assert verdog(project, "status", "first").returncode == 0
    undisturbed = make_project(tmp_path)
    assert run(undisturbed).returncode == 0
    assert files_of(project / "out").items() >= files_of(undisturbed / "out").items()
