"""The checkpoints table written anew from the records."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.repo.samples import Script, memory_repository
from verdog_objects.errors import Corrupt
from verdog_objects.oid import Oid
from verdog_objects.store import PutRow, Query, RemoveRow, Row
from verdog_repo.checkpoint import Checkpoint, encode_row
from verdog_repo.fsck import check
from verdog_repo.kinds import CheckpointKind
from verdog_repo.names import CommitId, RunId
from verdog_repo.rowrepair import repair_rows
from verdog_repo.tables import CHECKPOINTS

RUN = RunId("run")


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """A run of three checkpoints, and a fork at the second of them with two more."""
    script = Script(memory_repository(tmp_path))
    script.run("run")
    commits = script.commits("run", 3)
    script.fork(commits[1], "fork")
    script.commits("fork", 2)
    return script


def rows(script: Script) -> list[Row]:
    return script.repository.store.select(Query(table=CHECKPOINTS))


def change(script: Script, checkpoint: Checkpoint, **changes: Any) -> None:
    """Change a row behind everybody's back, its key too."""
    script.repository.store.apply(
        writes=[
            RemoveRow(table=CHECKPOINTS, key=encode_row(checkpoint, 1)[:3]),
            PutRow(table=CHECKPOINTS, row=encode_row(replace(checkpoint, **changes), 1)),
        ]
    )


CHANGES: list[dict[str, Any]] = [
    {"sequence": 9},
    {"commit": CommitId(b"\1" * 20)},
    {"parent": None},
    {"generation": 7},
    {"record": Oid(b"\1" * 32)},
    {"committed_s": 1},
    {"kind": CheckpointKind.TERMINAL},
    {"flags": 0},
    {"place": "x"},
    {"visit": 77},
    {"next_place": None},
    {"resumed_from": 1},
    {"created_us": 5},
    {"duration_ns": 17},
    {"files_added": 9},
    {"bytes_added": 9},
]


@pytest.mark.parametrize("changes", CHANGES, ids=lambda changes: next(iter(changes)))
@pytest.mark.parametrize("sequence", [1, 2, 3])
def test_a_changed_cell_is_written_anew(script: Script, changes: dict[str, Any], sequence: int) -> None:
    before = rows(script)
    checkpoint = script.repository.checkpoint_at(RUN, sequence)
    if changes.items() <= {each: getattr(checkpoint, each) for each in changes}.items():
        changes = {"parent": CommitId(b"\2" * 20)} if "parent" in changes else {"next_place": "y"}
    change(script, checkpoint, **changes)
    assert check(script.repository) != []
    assert [(each.run, each.sequence) for each in repair_rows(script.repository.catalog)] == [
        ("run", sequence)
    ]
    assert sorted(rows(script), key=repr) == sorted(before, key=repr)
    assert check(script.repository) == []


def test_missing_rows_are_written_anew(script: Script) -> None:
    before = rows(script)
    for row in before:
        script.repository.store.apply(writes=[RemoveRow(table=CHECKPOINTS, key=row[:3])])
    assert len(repair_rows(script.repository.catalog)) == len(before)
    assert sorted(rows(script), key=repr) == sorted(before, key=repr)


def test_sound_rows_stay(script: Script) -> None:
    assert repair_rows(script.repository.catalog) == ()


def test_what_cannot_be_derived_stays(script: Script) -> None:
    second = script.repository.checkpoint_at(RUN, 2)
    third = script.repository.checkpoint_at(RUN, 3)
    script.repository.store.delete_many([second.record])
    change(script, third, flags=0)
    before = rows(script)
    assert repair_rows(script.repository.catalog) == ()
    assert rows(script) == before


def test_a_row_that_lies_is_named_with_what_it_lies_about(script: Script) -> None:
    third = script.repository.checkpoint_at(RUN, 3)
    change(script, third, duration_ns=17)
    (found,) = check(script.repository)
    assert "duration_ns" in found.message
    with pytest.raises(Corrupt, match=r"checkpoint 3 .*duration_ns.*fsck --read-data --repair"):
        script.repository.checked_record(script.repository.checkpoint_at(RUN, 3))
