"""Four processes commit to four runs of one store at once; one of them captures a large file meanwhile."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from verdog_repo.fsck import check
from verdog_repo.names import RunId, format_commit_id
from verdog_repo.repository import Repository

COMMITTER = Path(__file__).with_name("committer.py")
COMMITS = 200
RUNS = ("a", "b", "c", "bulk")

ACCEPTED_WAIT_S = 5.0
"""What the slow test takes as nobody having waited: ten times the 0.5 s that hold on a machine with nothing
else to do, since a test may share one slow disk. Who waits for a lock that is held during the whole capture
of the large file waits longer still."""


def write_incompressible(path: Path, size_mib: int) -> None:
    with path.open("wb") as file:
        for _ in range(size_mib):
            file.write(os.urandom(1 << 20))


def commit_at_once(project: Path, bulk: Path) -> dict[str, list[float]]:
    """Let everybody commit, check that nothing is lost, and return how long each commit took."""
    Repository.create(project).close()
    children = {
        run: subprocess.Popen(
            [sys.executable, COMMITTER, project, run, str(COMMITS), bulk if run == "bulk" else "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for run in RUNS
    }
    for child in children.values():
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children.values():
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    told = {run: child.communicate() for run, child in children.items()}
    assert {run: errors for run, (_, errors) in told.items()} == dict.fromkeys(RUNS, "")
    reports = {run: json.loads(output) for run, (output, _) in told.items()}
    with Repository.open(project, read_only=True) as repository:
        for run, report in reports.items():
            history = repository.history(RunId(run), limit=len(report["commits"]) + 1)
            found = [format_commit_id(each.commit) for each in reversed(history)]
            assert found == report["commits"]
            assert len(found) >= COMMITS
        assert check(repository, read_data=True) == []
    return {run: report["seconds"] for run, report in reports.items()}


def report_waits(waits: dict[str, list[float]]) -> float:
    """Print the waits and return the longest of those who committed little."""
    for run, seconds in waits.items():
        ordered = sorted(seconds)
        print(
            f"{run}: {len(ordered)} commits, median {1000 * ordered[len(ordered) // 2]:.1f} ms, "
            f"longest {1000 * ordered[-1]:.1f} ms"
        )
    return max(max(seconds) for run, seconds in waits.items() if run != "bulk")


@pytest.mark.slow
def test_four_committers_and_a_large_file_lose_nothing(tmp_path: Path) -> None:
    bulk = tmp_path / "bulk.bin"
    write_incompressible(bulk, 64)
    report_waits(commit_at_once(tmp_path / "project", bulk))


@pytest.mark.slow
def test_nobody_waits_for_the_capture_of_a_gigabyte(tmp_path: Path) -> None:
    bulk = tmp_path / "bulk.bin"
    write_incompressible(bulk, 1024)
    assert report_waits(commit_at_once(tmp_path / "project", bulk)) < ACCEPTED_WAIT_S
