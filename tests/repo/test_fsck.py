from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from tests.repo.samples import Script, header, memory_repository, operation
from verdog_objects.canonical import decode_json, encode_json
from verdog_objects.errors import Corrupt
from verdog_objects.manifest import iterate, lookup
from verdog_objects.memory import MemoryStore
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import PutRow, Query, RemoveRow, Row, Table
from verdog_repo.checkpoint import Checkpoint, encode_row
from verdog_repo.fsck import Finding, check
from verdog_repo.names import LabelName, RunId, TagName
from verdog_repo.rebuild import derive_history
from verdog_repo.refs import name_run_ref, read_ref
from verdog_repo.repository import Repository
from verdog_repo.tables import CHECKPOINTS, REFLOG, REFS, RUN_NUMBERS, RUNS, TABLES

RUN = RunId("run")


@pytest.fixture
def sound(tmp_path: Path) -> Script:
    """Two runs of three checkpoints, the second a fork at the second of the first; a tag and a label."""
    script = Script(memory_repository(tmp_path))
    script.run("run")
    commits = script.commits("run", 3)
    script.fork(commits[1], "fork")
    script.commits("fork", 2)
    script.repository.marks.add_tag(TagName("tag"), commits[0].commit, operation=operation("tag"))
    script.repository.marks.add_label(LabelName("label"), RUN, operation=operation("label"))
    assert check(script.repository) == []
    return script


def findings(script: Script, *, read_data: bool = False) -> list[Finding]:
    return check(script.repository, read_data=read_data)


def put(script: Script, table: Table, row: Row) -> None:
    script.repository.store.apply(writes=[PutRow(table=table, row=row)])


def damage_row(script: Script, checkpoint: Checkpoint, **changes: object) -> None:
    put(script, CHECKPOINTS, encode_row(replace(checkpoint, **changes), 1))  # type: ignore[arg-type]


def test_an_empty_repository_is_sound(tmp_path: Path) -> None:
    with Repository.create(tmp_path) as repository:
        assert check(repository, read_data=True) == []


def test_a_run_without_checkpoints_is_sound(script: Script) -> None:
    script.run("run")


@pytest.mark.parametrize(
    "changes",
    [
        {"committed_s": 1},
        {"generation": 7},
        {"flags": 0},
        {"place": "x"},
        {"created_us": 5},
        {"resumed_from": 1},
        {"record": Oid(b"\1" * 32)},
        {"parent": None},
        {"files_added": 9},
    ],
)
def test_a_row_that_its_record_does_not_make_is_found(sound: Script, changes: dict[str, object]) -> None:
    second = sound.repository.checkpoint_at(RUN, 2)
    damage_row(sound, second, **changes)
    found = findings(sound)
    assert found
    assert {each.kind for each in found} == {"checkpoint"}
    assert (found[0].run, found[0].sequences, len(found[0].visits)) == ("run", (2,), 1)


def test_a_missing_row_is_found_where_its_child_needs_it(sound: Script) -> None:
    first = sound.repository.checkpoint_at(RUN, 1)
    sound.repository.store.apply(writes=[RemoveRow(table=CHECKPOINTS, key=(1, 1, first.commit))])
    kinds = {(each.kind, each.run, each.sequences) for each in findings(sound)}
    assert ("checkpoint", "run", (2,)) in kinds
    assert any(kind == "ref" for kind, _, _ in kinds)  # the tag points at it


def test_a_missing_record_is_found(sound: Script) -> None:
    third = sound.repository.checkpoint_at(RUN, 3)
    sound.repository.store.delete_many([third.record])
    (found,) = findings(sound)
    assert (found.kind, found.run, found.sequences, found.oid) == ("checkpoint", "run", (3,), third.record)


def test_a_missing_header_is_found(sound: Script) -> None:
    row = sound.repository.catalog.runs.get(RUN)
    sound.repository.store.delete_many([row.header])
    (found,) = findings(sound)
    assert (found.kind, found.run, found.oid) == ("run", "run", row.header)


def test_a_missing_file_is_found_with_every_checkpoint_that_has_it(sound: Script) -> None:
    store = sound.repository.store
    artifacts = sound.repository.record(sound.repository.checkpoint_at(RUN, 2)).artifacts
    assert artifacts is not None
    entry = lookup(store, artifacts, b"run-2.txt")
    assert entry is not None
    store.delete_many([entry.oid])
    found = findings(sound)
    assert [(each.kind, each.run, each.sequences, each.paths, each.oid) for each in found] == [
        ("object", "run", (2, 3), (b"run-2.txt",), entry.oid),
        ("object", "fork", (1, 2, 3), (b"run-2.txt",), entry.oid),
    ]
    assert "checkpoints 2 to 3" in found[0].message
    assert findings(sound, read_data=True) == found


def test_a_missing_value_is_found_with_its_address(sound: Script) -> None:
    store = sound.repository.store
    root = sound.repository.record(sound.repository.checkpoint_at(RUN, 3)).state
    assert root is not None
    entry = lookup(store, root, b"node:work")
    assert entry is not None
    store.delete_many([entry.oid])
    (found, *_) = findings(sound)
    assert (found.run, found.sequences, found.addresses, found.paths) == ("run", (3,), ("node:work",), ())


def test_a_missing_node_is_found(sound: Script) -> None:
    root = sound.repository.record(sound.repository.checkpoint_at(RUN, 1)).artifacts
    assert root is not None
    sound.repository.store.delete_many([root])
    (found,) = findings(sound)
    assert (found.kind, found.sequences, found.oid) == ("object", (1,), root)


def test_a_missing_environment_is_found(script: Script) -> None:
    script.run("run")
    with script.repository.store.writer() as writer:
        environment = writer.put(Kind.ENVIRONMENT, b"{}")
        script.repository.store.apply(writer)
    script.commit("run", environments=(environment,))
    script.commit("run", environments=(environment,))
    script.repository.store.delete_many([environment])
    (found,) = findings(script)
    assert (found.oid, found.sequences) == (environment, (1, 2))
    script.repository.store.put_many([(Kind.ENVIRONMENT, b"{}")])


@pytest.mark.parametrize("name", ["runs/run", "tags/tag"])
def test_a_ref_that_points_nowhere_is_found(sound: Script, name: str) -> None:
    ref = read_ref(sound.repository.store, name)
    assert ref is not None
    put(sound, REFS, tuple(ref._replace(commit=b"\0" * 20)))
    found = findings(sound)
    assert [each.message for each in found if each.kind == "ref"] == [
        f"ref {name} points at commit {'0' * 40}, which is not in the checkpoints table"
    ]


def test_a_ref_that_contradicts_its_checkpoint_is_found(sound: Script) -> None:
    ref = read_ref(sound.repository.store, name_run_ref(RUN))
    assert ref is not None
    put(sound, REFS, tuple(ref._replace(sequence=2)))
    (found,) = findings(sound)
    assert found.message == "ref runs/run does not say what its checkpoint says"


def test_a_ref_that_its_reflog_does_not_know_is_found(sound: Script) -> None:
    ref = read_ref(sound.repository.store, name_run_ref(RUN))
    assert ref is not None
    sound.repository.store.apply(writes=[ref.removal])
    (found,) = findings(sound)
    assert (found.kind, found.run) == ("reflog", "run")


class BusyStore(MemoryStore):
    """A store in which another process does something just before a table is read."""

    def __init__(self) -> None:
        super().__init__(TABLES)
        self.planned: dict[Table, Callable[[], object]] = {}

    def select(self, query: Query) -> list[Row]:
        self.planned.pop(query.table, lambda: None)()
        return super().select(query)


@pytest.mark.parametrize("moment", [REFS, REFLOG, RUN_NUMBERS])
def test_what_others_add_meanwhile_is_no_finding(tmp_path: Path, moment: Table) -> None:
    store = BusyStore()
    script = Script(Repository.over(store, tmp_path))
    script.run("run")
    script.commit("run")

    def add() -> None:
        script.commit("run")
        script.run("other")
        script.commit("other")

    script.lease("run")
    store.planned[moment] = add
    assert check(script.repository) == []
    assert not store.planned


def test_a_run_without_its_number_is_found(sound: Script) -> None:
    put(sound, RUN_NUMBERS, (1, "other"))
    fresh = Script(Repository.over(sound.repository.store, sound.repository.project))
    assert "run" in {each.kind for each in findings(fresh)}


def test_a_run_whose_row_names_another_fork_point_is_found(sound: Script) -> None:
    row = sound.repository.catalog.runs.get(RunId("fork"))
    put(sound, RUNS, tuple(row._replace(fork_point=None)))
    found = findings(sound)
    assert [(each.kind, each.run, each.sequences) for each in found] == [("checkpoint", "fork", (1,))]


def test_a_row_that_does_not_match_its_seal_is_found(tmp_path: Path) -> None:
    with Repository.create(tmp_path) as repository:
        repository.create_run(header("run"), operation=operation())
    connection = apsw.Connection(str(tmp_path / ".verdog" / "store" / "store.db"))
    connection.execute("UPDATE operations SET kind = 'walk'")
    connection.close()
    with Repository.open(tmp_path) as repository:
        found = check(repository)
    assert {each.kind for each in found} == {"store", "operation"}


def test_damaged_content_is_found_when_it_is_read(tmp_path: Path) -> None:
    with Repository.create(tmp_path) as repository:
        script = Script(repository)
        script.run("run")
        made = script.commit("run")
        root = repository.record(made).artifacts
        assert root is not None
        ((_, entry),) = list(iterate(repository.store, root))
        script.release("run")
    connection = apsw.Connection(str(tmp_path / ".verdog" / "store" / "store.db"))
    connection.execute(
        "UPDATE objects SET data = CAST(x'00' || substr(data, 2) AS BLOB) WHERE oid = ?", (entry.oid,)
    )
    connection.close()
    with Repository.open(tmp_path) as repository:
        assert check(repository) == []
        (found,) = check(repository, read_data=True)
    assert (found.oid, found.paths, found.run) == (entry.oid, (b"run-1.txt",), "run")
    assert "damaged" in found.message


class TestRebuild:
    """The checkpoints table follows from the records."""

    def test_the_rows_of_a_history_follow_from_its_last_record(self, sound: Script) -> None:
        history = sound.repository.history(RunId("fork"), 100)
        assert derive_history(sound.repository.store, history[0].record) == [*reversed(history)]

    def test_a_missing_record_is_corrupt(self, sound: Script) -> None:
        history = sound.repository.history(RunId("fork"), 100)
        sound.repository.store.delete_many([history[2].record])
        with pytest.raises(Corrupt, match="missing"):
            derive_history(sound.repository.store, history[0].record)

    def test_a_record_that_does_not_continue_is_corrupt(self, sound: Script) -> None:
        store = sound.repository.store
        tip = sound.repository.checkpoint_at(RUN, 3)
        value = decode_json(store.get(Kind.RECORD, tip.record))
        assert isinstance(value, dict)
        (wrong,) = store.put_many([(Kind.RECORD, encode_json({**value, "sequence": 5}))])
        with pytest.raises(Corrupt, match="does not continue"):
            derive_history(store, wrong)
