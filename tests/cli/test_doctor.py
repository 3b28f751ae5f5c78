import json
import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.store import HandMade
from tests.commandline import Verdog
from verdog_cli.diagnosis import judge
from verdog_objects.errors import Corrupt
from verdog_objects.staging import stage
from verdog_repo.doctor import Facts, gather_facts
from verdog_repo.names import RunId
from verdog_repo.repository import Repository


@pytest.fixture
def finished(repository: Repository) -> HandMade:
    made = HandMade(repository, "first")
    made.checkpoint(files={b"a": b"x" * 10_000})
    made.finish()
    return made


@pytest.fixture
def facts(finished: HandMade, project: Path) -> Facts:
    """Facts without anything to say about the machine that the tests run on."""
    found = gather_facts(project)
    quiet = replace(
        found.disks[0][1],
        type="ext4",
        network=False,
        frozen=False,
        writable=True,
        free_bytes=1 << 40,
        free_inodes=None,
    )
    return replace(
        found, disks=(("store and output", quiet),), syncs_ns=(1_000_000,), open_files=(1024, 4096)
    )


def kinds(facts: Facts) -> list[tuple[str, bool]]:
    return [(each.kind, each.finding) for each in judge(facts)]


def test_the_report_says_what_there_is(verdog: Verdog, finished: HandMade, project: Path) -> None:
    result = verdog("doctor")
    labels = [line[:10].strip() for line in result.out.splitlines() if line[:10].strip()]
    assert labels[:7] == ["versions", "project", "store", "disk", "sync", "limits", "runs"]
    assert all(len(line) <= 80 for line in result.out.splitlines() if str(project) not in line)
    text = " ".join(result.out.split())
    assert "format 1, " in text and " in 1 pack" in text
    assert "1 run, 0 active, 0 interrupted, 0 without output directory" in text
    assert "for 4 KiB (median of 20; the slowest" in text
    assert result.err == ""


def test_json_says_the_same(verdog: Verdog, finished: HandMade, project: Path) -> None:
    result = verdog("doctor", "--json")
    document = json.loads(result.out)
    assert document["operation"] == "doctor"
    assert {"verdog", "python", "sqlite", "apsw", "libgit2"} <= document["versions"].keys()
    assert document["store"]["runs"] == 1 and document["store"]["error"] is None
    assert document["disks"][0]["path"] == str(project / ".verdog" / "store")
    assert len(document["syncs_ns"]) == 20
    assert (document["locks"], document["leftovers"]) == ([], [])
    assert result.code == (1 if document["findings"] else 0)


def test_nothing_is_changed(verdog: Verdog, finished: HandMade, project: Path) -> None:
    def everything() -> dict[Path, tuple[int, bytes | None]]:
        return {
            path: (
                path.stat().st_mtime_ns if path.is_file() else 0,
                path.read_bytes() if path.is_file() else None,
            )
            for path in project.rglob("*")
            if not path.name.endswith(("-shm", "-wal"))
        }

    before = everything()
    verdog("doctor")
    assert everything() == before


def test_without_a_store_the_machine_is_reported(verdog: Verdog, project: Path) -> None:
    result = verdog("doctor")
    assert "store     none yet\n" in result.out
    assert not (project / ".verdog").exists()
    assert json.loads(verdog("doctor", "--json").out)["store"] is None


def test_a_quiet_project_has_no_finding(facts: Facts) -> None:
    assert kinds(facts) == []


def test_an_interrupted_run_is_a_finding_and_an_active_one_is_not(
    verdog: Verdog, repository: Repository
) -> None:
    made = HandMade(repository, "killed")
    made.checkpoint()
    with repository.lease(RunId("killed"), owner="verdog resume"):
        result = verdog("doctor")
        assert "1 run, 1 active, 0 interrupted" in " ".join(result.out.split())
        assert f"lock      killed is held by process {os.getpid()} on " in result.out
        assert "(verdog resume)" in " ".join(result.out.split())
        document = json.loads(verdog("doctor", "--json").out)
        assert document["locks"][0]["owner"]["pid"] == os.getpid()
        assert document["store"]["active"] == ["killed"]
    result = verdog("doctor")
    assert result.code == 1
    assert "finding: run killed was interrupted" in result.out
    assert "  verdog resume killed\n" in result.out


@pytest.mark.parametrize("checkpoints", [0, 1])
def test_an_interrupted_run_that_cannot_go_on_is_not_to_be_resumed(
    verdog: Verdog, repository: Repository, checkpoints: int
) -> None:
    made = HandMade(repository, "killed")
    for _ in range(checkpoints):
        made.checkpoint(reason="a lock cannot be stored")
    result = verdog("doctor")
    assert "advice: run killed was interrupted where it cannot go on" in result.out
    assert "  verdog restart killed --sessions fresh\n" in result.out
    assert "verdog resume killed" not in result.out
    assert "killed" not in str(json.loads(verdog("doctor", "--json").out)["findings"])


def test_many_interrupted_runs_are_counted(facts: Facts) -> None:
    assert facts.store is not None
    many = replace(facts, store=replace(facts.store, interrupted=tuple(RunId(f"r{n}") for n in range(9))))
    remarks = judge(many)
    assert len(remarks) == 6 and remarks[-1].message == "4 more runs of that kind"


def test_what_was_left_behind_is_found(verdog: Verdog, finished: HandMade, project: Path) -> None:
    gone = project / f".verdog-partial-{'0' * 16}-{'1' * 8}"
    old = project / ".verdog" / f".gitignore.{'0' * 16}.tmp"
    old.touch()
    os.utime(old, (0, 0))
    (project / ".verdog" / f".new.{'0' * 16}.tmp").touch()
    (project / ".verdog" / ".mine.tmp").touch()
    beside = finished.output.parent / f".verdog-partial-{'2' * 16}-{'3' * 8}"
    beside.mkdir()
    with stage(project / "checkout"):
        gone.mkdir()
        document = json.loads(verdog("doctor", "--json").out)
    assert sorted(document["leftovers"]) == sorted(map(str, (gone, old, beside)))
    assert [each["kind"] for each in document["findings"] if each["kind"] == "leftover"] == ["leftover"] * 3


def test_a_missing_output_directory_is_advice(verdog: Verdog, finished: HandMade) -> None:
    import shutil

    shutil.rmtree(finished.output)
    document = json.loads(verdog("doctor", "--json").out)
    assert "run.output_missing" in [each["kind"] for each in document["advice"]]


@pytest.mark.parametrize("damage", ["garbage", "newer", "gone"])
def test_a_store_that_cannot_be_read_is_a_finding(
    verdog: Verdog, project: Path, finished: HandMade, damage: str
) -> None:
    finished.repository.close()
    database = project / ".verdog" / "store" / "store.db"
    if damage == "garbage":
        database.write_bytes(b"garbage" * 1_000)
    elif damage == "gone":
        database.unlink()
    else:
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE meta SET value = 99 WHERE name = 'format'")
        connection.close()
    result = verdog("doctor")
    assert result.code == 1
    assert "finding: the store cannot be read:" in result.out
    assert ("verdog fsck" in result.out) is (damage != "newer")
    document = json.loads(verdog("doctor", "--json").out)
    assert document["store"]["error"]["kind"] == ("format_unsupported" if damage == "newer" else "corrupt")
    assert document["store"]["format"] is None


def test_a_disk_may_be_unfit(facts: Facts) -> None:
    disk = facts.disks[0][1]

    def on(**changes: object) -> list[tuple[str, bool]]:
        return kinds(replace(facts, disks=(("store", replace(disk, **changes)),)))  # type: ignore[arg-type]

    assert on(type="nfs4", network=True) == [("disk.network", True)]
    assert on(writable=False) == on(writable=False, frozen=True) == [("disk.read_only", True)]
    assert on(free_bytes=1000) == [("disk.space", True)]
    assert on(free_inodes=9) == [("disk.inodes", True)]
    assert on(type="tmpfs") == [("disk.memory", False)]


def test_limits_and_syncs_are_judged(facts: Facts) -> None:
    assert facts.store is not None
    assert kinds(replace(facts, open_files=(64, 64))) == [("limit.open_files", True)]
    long = replace(facts, store=replace(facts.store, longest_output=4_000))
    assert kinds(long) == [("limit.path", False)]
    assert kinds(replace(facts, syncs_ns=(50_000_000,))) == [("sync.slow", False)]
    assert kinds(replace(facts, syncs_ns=(900,))) == [("sync.pretended", False)]
    assert kinds(replace(facts, syncs_ns=())) == []


def test_findings_come_first(facts: Facts) -> None:
    assert facts.store is not None
    worst = replace(
        facts,
        syncs_ns=(900,),
        open_files=(64, 64),
        store=replace(facts.store, missing=1, error=Corrupt("x")),
    )
    assert [each.finding for each in judge(worst)] == [True, True, False, False]


def test_names_are_escaped(facts: Facts) -> None:
    odd = Path("/x/\x1b[31m.tmp")
    assert "\x1b" not in judge(replace(facts, leftovers=(odd,)))[0].message
