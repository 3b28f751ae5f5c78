"""`log`, `show`, `ls`, `cat`, `checkpoints`, `checkout`, `fsck` on a repository made by hand."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.store import HandMade
from tests.commandline import Verdog
from tests.processes import shared_starter
from verdog_repo.repository import Repository

ODD = (b"-Pals.pdf", b"--help", b"-", b"l1\nl2", b"t\tb", b"\xfe", b"\xff", b"back\\slash")
"""Names that break tools: options, control characters, bytes that are not UTF-8."""


@pytest.fixture
def run(repository: Repository) -> HandMade:
    made = HandMade(repository, "first")
    made.checkpoint("plan", files={b"plan/1/plan.txt": b"plan"})
    made.checkpoint("survey", files={b"survey/1/rows.csv": b"a,b\n", b"survey/1/big": b"x" * 200_000})
    made.checkpoint("tick", reason="input.items[3] is a lock")
    made.checkpoint("survey", visit=2, files={b"survey/2/rows.csv": b"c,d\n"}, following=None)
    return made


def test_log_lists_the_newest_first(verdog: Verdog, run: HandMade) -> None:
    lines = verdog("log", "first").out.splitlines()
    assert lines[0].split() == ["CHECKPOINT", "COMMIT", "COMPLETED", "NEXT", "TIME", "FILES", "BYTES"]
    assert [line.split()[0] for line in lines[1:]] == ["first@4", "first@3!", "first@2", "first@1"]
    assert lines[1].split()[2:4] == ["survey/000002", "-"]
    assert all(len(line) <= 80 for line in lines)


def test_log_stops_after_n(verdog: Verdog, run: HandMade) -> None:
    assert len(verdog("log", "first", "-n", "2").out.splitlines()) == 3
    assert verdog("log", "first", "-n", "0").out == ""
    assert verdog("log", "first", "-n", "9" * 30).out == verdog("log", "first").out


def test_log_of_one_node(verdog: Verdog, run: HandMade) -> None:
    out = verdog("log", "first", "--node", "survey", "--oneline").out
    assert [line.split()[1] for line in out.splitlines()] == ["first@4", "first@2"]


def test_log_of_a_node_inside_a_call(verdog: Verdog, repository: Repository) -> None:
    HandMade(repository, "outer").checkpoint("child", call_path="call#1")
    for node in ("child", "call#1/child"):
        assert "outer@1" in verdog("log", "outer", "--node", node).out
    assert verdog("log", "outer", "--node", "ild").out == ""


def test_log_of_a_path_lists_what_changed_it(verdog: Verdog, run: HandMade) -> None:
    def names(*paths: str) -> list[str]:
        out = verdog("log", "first", "--oneline", "--", *paths).out
        return [line.split()[1] for line in out.splitlines()]

    assert names("survey/1/rows.csv") == ["first@2"]
    assert names("survey/") == ["first@4", "first@2"]
    assert names("surv") == []


def test_log_since_a_time(verdog: Verdog, run: HandMade) -> None:
    out = verdog("log", "first", "--since", "2026-11-30T10:00:03Z", "--oneline").out
    assert len(out.splitlines()) == 2
    assert verdog("log", "first", "--since", "yesterday-ish").code == 2


def test_log_without_a_revision_lists_every_run(
    verdog: Verdog, run: HandMade, repository: Repository
) -> None:
    HandMade(repository, "second").checkpoint()
    out = verdog("log", "--oneline").out
    assert "first@1" in out
    assert "second@1" in out
    assert verdog("log", "--all", "--oneline").out == out
    assert verdog("log", "--all", "first").code == 2


def test_log_draws_a_graph(verdog: Verdog, run: HandMade) -> None:
    lines = verdog("log", "first", "--graph").out.splitlines()
    assert all(line.startswith("* ") for line in lines)
    assert len(lines) == 4


def test_log_as_json_has_the_commit_ids(verdog: Verdog, run: HandMade, repository: Repository) -> None:
    document = json.loads(verdog("log", "first", "--json").out)
    newest = document["checkpoints"][0]
    tip = repository.tip(run.run)
    assert tip is not None
    assert newest["commit"] == tip.commit.hex()
    assert (newest["checkpoint"], newest["restorable"], newest["files_added"]) == (4, True, 1)


def test_log_of_a_range(verdog: Verdog, run: HandMade) -> None:
    out = verdog("log", "first@1..first@3", "--oneline").out
    assert [line.split()[1] for line in out.splitlines()] == ["first@3!", "first@2"]
    both = verdog("log", "first@1...first@2", "--oneline").out
    assert [line.split()[1] for line in both.splitlines()] == ["first@2"]


def test_a_revision_that_is_not_there_exits_2(verdog: Verdog, run: HandMade) -> None:
    for arguments in (("log", "nope"), ("show", "first@99"), ("cat", "first:nope"), ("ls", "first:no/where")):
        result = verdog(*arguments)
        assert result.code == 2
        assert result.err.startswith("error: ")
        assert result.err.count("error: ") == 1


def test_show_tells_state_and_changed_files(verdog: Verdog, run: HandMade) -> None:
    out = verdog("show", "first@2").out
    assert "checkpoint first@2" in out
    assert "completed  survey/000002" in out
    assert "input" in out
    assert "2 changed files" in out
    assert "survey/1/rows.csv" in out
    assert "plan/1" not in out


def test_show_says_why_a_checkpoint_cannot_be_used(verdog: Verdog, run: HandMade) -> None:
    assert "input.items[3] is a lock" in verdog("show", "first@3").out


def test_show_of_a_path_is_the_file_or_the_listing(verdog: Verdog, run: HandMade) -> None:
    assert verdog("show", "first@2:survey/1/rows.csv").out == "a,b\n"
    assert "rows.csv" in verdog("show", "first@2:survey/1").out


def test_show_as_json(verdog: Verdog, run: HandMade) -> None:
    document = json.loads(verdog("show", "first@3", "--json").out)
    assert document["checkpoint"]["unavailable_code"] == "checkpoint.serialization_failed"
    assert document["checkpoint"]["completed_in"]["graph"] == "census.main"


def test_ls_lists_one_directory(verdog: Verdog, run: HandMade) -> None:
    assert verdog("ls", "first@2").out.splitlines() == ["plan/", "survey/"]
    assert verdog("ls", "first@2:survey/1").out.splitlines() == ["big", "rows.csv"]
    assert verdog("ls", "first@2:survey/1/big").out.splitlines() == ["survey/1/big"]


def test_ls_recursive_gives_whole_paths(verdog: Verdog, run: HandMade) -> None:
    out = verdog("ls", "-R", "first@1").out
    assert out.splitlines() == ["plan/", "plan/1/", "plan/1/plan.txt"]


def test_ls_long_gives_modes_and_sizes(verdog: Verdog, run: HandMade) -> None:
    row = verdog("ls", "-l", "first@2:survey/1/big").out.splitlines()[1].split()
    assert row[0].startswith("-rw")
    assert row[1] == "200000"


def test_cat_gives_every_byte_of_a_large_file(verdog: Verdog, run: HandMade) -> None:
    assert verdog("cat", "first:survey/1/big").out == "x" * 200_000


def test_cat_of_a_directory_is_refused(verdog: Verdog, run: HandMade) -> None:
    result = verdog("cat", "first:survey")
    assert result.code == 2
    assert "is a directory" in result.err
    assert verdog("cat", "first").code == 2


def test_odd_names_are_listed_one_per_line_and_read_exactly(verdog: Verdog, repository: Repository) -> None:
    made = HandMade(repository, "odd")
    made.checkpoint(files={name: b"content of " + name for name in ODD})
    assert len(verdog("ls", "odd").out.splitlines()) == len(ODD)
    document = json.loads(verdog("ls", "odd", "--json").out)
    assert {os.fsencode(each["path"]) for each in document["entries"]} == set(ODD)
    assert verdog("ls", "-z", "odd").out.count("\0") == len(ODD)
    for name in ODD:
        assert verdog("cat", f"odd:{os.fsdecode(name)}").out.startswith("content of ")


def test_bytes_leave_the_process_unchanged(repository: Repository, project: Path) -> None:
    HandMade(repository, "odd").checkpoint(files={b"\xfe": bytes(range(256))})

    def call(*arguments: str) -> bytes:
        result = shared_starter(in_c_locale=True).run(*arguments)
        assert result.code == 0
        return os.fsencode(result.out)

    assert call("cat", os.fsdecode(b"odd:\xfe")) == bytes(range(256))
    assert call("ls", "-z", "odd") == b"\xfe\0"
    assert call("ls", "odd") == b"\\xfe\n"


def test_checkpoints_lists_what_each_can_be_used_for(verdog: Verdog, run: HandMade) -> None:
    lines = verdog("checkpoints").out.splitlines()
    assert lines[0].split() == ["CHECKPOINT", "KIND", "COMPLETED", "NEXT", "RESTORE", "BRANCH", "CREATED"]
    assert len(lines) == 6
    assert "no" in lines[3].split()
    assert lines[5] == "3: input.items[3] is a lock"
    assert all(len(line) <= 80 for line in lines)


def test_checkpoints_as_json_names_the_reason(verdog: Verdog, run: HandMade) -> None:
    document = json.loads(verdog("checkpoints", "first", "--json").out)
    assert [each["checkpoint"] for each in document["checkpoints"]] == [1, 2, 3, 4]
    assert document["checkpoints"][2]["unavailable_reason"] == "input.items[3] is a lock"


def test_the_only_run_need_not_be_named(verdog: Verdog, repository: Repository) -> None:
    HandMade(repository, "first")
    HandMade(repository, "second")
    result = verdog("checkpoints")
    assert result.code == 2
    assert "first" in result.err
    assert "second" in result.err


def test_checkout_writes_a_new_directory(verdog: Verdog, run: HandMade, project: Path) -> None:
    result = verdog("checkout", "first@2", "out")
    assert result.code == 0
    assert (project / "out/survey/1/rows.csv").read_bytes() == b"a,b\n"
    assert not (project / "out/survey/2").exists()
    assert "3 files" in result.out


def test_checkout_of_some_paths(verdog: Verdog, run: HandMade, project: Path) -> None:
    assert verdog("checkout", "first", "out", "--", "survey/2").code == 0
    assert not (project / "out/plan").exists()
    assert (project / "out/survey/2/rows.csv").exists()


def test_checkout_never_writes_over_something(verdog: Verdog, run: HandMade, project: Path) -> None:
    (project / "out").mkdir()
    (project / "out" / "mine").write_text("mine")
    assert verdog("checkout", "first", "out").code == 2
    assert [path.name for path in (project / "out").iterdir()] == ["mine"]
    assert verdog("checkout", "first", "small", "--max-bytes", "10").code == 2
    assert not (project / "small").exists()


def test_fsck_of_a_sound_store_is_clean(verdog: Verdog, run: HandMade) -> None:
    result = verdog("fsck", "--read-data")
    assert result.code == 0
    assert result.out == "1 run, 0 findings\n"
    assert json.loads(verdog("fsck", "--json").out)["findings"] == []


def test_fsck_exits_1_for_a_missing_object(verdog: Verdog, run: HandMade, repository: Repository) -> None:
    tip = repository.tip(run.run)
    assert tip is not None
    repository.store.delete_many([tip.record])
    result = verdog("fsck")
    assert result.code == 1
    assert "first" in result.out
    assert json.loads(verdog("fsck", "--json").out)["findings"]
    assert verdog("show", "first").code in (2, 4)


def test_reading_changes_nothing(verdog: Verdog, run: HandMade, project: Path) -> None:
    def snapshot() -> dict[str, bytes]:
        return {
            str(path): path.read_bytes()
            for path in sorted(project.rglob("*"))
            if path.is_file() and not path.name.endswith(("-wal", "-shm"))
        }

    before = snapshot()
    for arguments in (("log", "first"), ("show", "first"), ("ls", "-R", "first"), ("runs",), ("fsck",)):
        assert verdog(*arguments).code == 0
    assert snapshot() == before


def test_show_of_a_path_as_json_is_its_entry(verdog: Verdog, run: HandMade) -> None:
    document = json.loads(verdog("show", "first@2:survey/1/rows.csv", "--json").out)
    assert document["checkpoint"]["checkpoint"] == 2
    assert (document["file"]["path"], document["file"]["kind"], document["file"]["size_bytes"]) == (
        "survey/1/rows.csv",
        "file",
        4,
    )
