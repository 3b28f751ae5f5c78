"""`verdog diff` on a repository made by hand, and on a run that was killed."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.cli.store import HandMade
from tests.cli.workflows import countdown
from tests.commandline import Verdog
from verdog_repo.repository import Repository


@pytest.fixture
def runs(repository: Repository) -> tuple[HandMade, HandMade]:
    """Two runs: the same plan, then another survey."""
    made = HandMade(repository, "first"), HandMade(repository, "second")
    for run, loss in zip(made, (b"0.31", b"0.29"), strict=True):
        run.checkpoint("plan", visit=1, files={b"plan/000001/plan.txt": b"plan\n"})
        run.checkpoint(
            "survey",
            visit=1,
            files={
                b"survey/000001/m.json": b'{"loss": %s, "epoch": 1}' % loss,
                b"survey/000001/rows.csv": b"name,x\na,1\nb,%s\n" % loss,
                b"survey/000001/note.txt": b"one\nloss %s\nthree\n" % loss,
                b"survey/000001/raw.bin": b"\0" + loss,
            },
        )
    return made


def test_two_runs_are_compared_by_visit_state_and_file(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    runs[1].checkpoint("report", visit=1, files={b"report/000001/r.txt": b"r"}, following=None)
    result = verdog("diff", "first", "second")
    assert result.code == 0
    assert all(len(line) <= 80 for line in result.out.splitlines())
    lines = result.out.splitlines()
    assert lines[0].startswith("--- first@2")
    assert lines[1].startswith("+++ second@3")
    assert "visits: 2 on both sides, 1 on one side only" in lines
    assert "  first difference: survey#1: files  (first@2, second@2)" in lines
    assert "+ report#1                      second@3" in lines
    assert "  input['count']  2 -> 3" in lines
    assert "files: 4 changed, 1 added, 2 directories" in lines


def test_runs_that_go_different_ways_are_shown_side_by_side(verdog: Verdog, repository: Repository) -> None:
    for name, following in (("one", "left"), ("two", "right")):
        made = HandMade(repository, name)
        made.checkpoint("plan", following=following, files={b"a": name.encode()})
        made.checkpoint(following)
    out = verdog("diff", "one", "two").out
    assert "  first difference: plan#1: next  (one@1, two@1)\n    then left against right\n" in out
    assert "- left#1 " in out
    assert "+ right#1 " in out


def test_another_order_of_visits_is_shown(verdog: Verdog, repository: Repository) -> None:
    for name, nodes in (("one", "ab"), ("a-run-with-a-name-that-takes-a-lot-of-room", "ba")):
        made = HandMade(repository, name)
        for node in nodes:
            made.checkpoint(node, files={b"x": name.encode()})
    lines = verdog("diff", "one", "a-run-with-a-name-that-takes-a-lot-of-room").out.splitlines()
    assert "  first difference: a#1 against b#1" in lines
    assert all(len(line) <= 80 for line in lines)


def test_content_is_compared_by_what_it_is(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    out = verdog("diff", "first", "second", "--", "survey").out
    assert "  .loss  0.31 -> 0.29\n" in out
    assert "  b: x  0.31 -> 0.29\n" in out
    assert "@@ -1,3 +1,3 @@\n one\n-loss 0.31\n+loss 0.29\n three\n" in out
    assert "  binary: " in out
    assert "visits" not in out
    assert "state" not in out


def test_stat_looks_into_no_file(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    out = verdog("diff", "--stat", "first", "second").out
    assert "survey/000001/m.json" in out
    assert "0.31" not in out


def test_names_are_for_programs(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    runs[1].checkpoint("end", visit=1, files={b"l1\nl2": b"x"})
    out = verdog("diff", "--name-status", "first", "second").out
    assert out.splitlines() == [
        "A\tl1\\nl2",
        "M\tsurvey/000001/m.json",
        "M\tsurvey/000001/note.txt",
        "M\tsurvey/000001/raw.bin",
        "M\tsurvey/000001/rows.csv",
    ]


def test_one_revision_is_compared_with_its_parent(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    out = verdog("diff", "first").out
    assert out.startswith("--- first@1")
    assert "visits: 1 more" in out
    assert "files: 4 added, 2 directories" in out
    out = verdog("diff", "first@1").out
    assert out.startswith("--- nothing")
    assert "+ plan#1" in out


def test_ranges_name_two_sides(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    assert verdog("diff", "first@1..first@2").out == verdog("diff", "first@1", "first@2").out
    assert verdog("diff", "first@1...first@2").out == verdog("diff", "first@1", "first@2").out
    assert verdog("diff", "first@2..first@1").out.startswith("--- first@2")
    result = verdog("diff", "first...second")
    assert result.code == 2
    assert "no checkpoint in common" in result.err


def test_the_exit_code_tells_a_difference_only_when_asked(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    assert verdog("diff", "first", "second").code == 0
    assert verdog("diff", "--exit-code", "first", "second").code == 1
    assert verdog("diff", "--exit-code", "first@2", "first").code == 0
    assert verdog("diff", "--exit-code", "--state", "first", "second").code == 0
    assert verdog("diff", "--exit-code", "--name-status", "first", "second").code == 1
    assert verdog("diff", "--exit-code", "first", "second", "--", "plan", "survey/000001/nope").code == 0
    assert verdog("diff", "--exit-code", "first", "second", "--", "./survey/000001/m.json").code == 1


def test_equal_checkpoints_are_said_to_be(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    assert verdog("diff", "first@1", "second@1").out.splitlines()[-1] == "no difference"
    assert verdog("diff", "--name-status", "first@1", "second@1").out == ""


def test_state_is_shown_alone_and_whole(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    out = verdog("diff", "--state", "first").out
    assert "  input['count']  1 -> 2" in out
    assert "files" not in out
    for other in (("--stat",), ("--name-status",), ("--", "plan")):
        assert verdog("diff", "--state", "first", *other).code == 2


def test_a_path_belongs_after_the_dashes(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    result = verdog("diff", "first:plan", "second")
    assert result.code == 2
    assert "-- plan" in result.err
    assert verdog("diff", "first", "nope").code == 2


def test_json_has_everything(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    runs[1].checkpoint("end", visit=1, files={b"\xfe": b"x"})
    result = verdog("diff", "--json", "--exit-code", "first", "second")
    assert result.code == 1
    document = json.loads(result.out)
    assert document["operation"] == "diff"
    assert document["differs"] is True
    assert document["same_workflow"] is True
    assert document["left"]["run"] == "first"
    assert (document["both"], document["only_left"]) == (2, [])
    assert document["only_right"][0] == {
        "side": "right",
        "run": "second",
        "checkpoint": 3,
        "completed": {"place": "end", "node": "end", "visit": 1},
        "ordinal": 1,
    }
    assert document["first_difference"]["reasons"] == ["files"]
    assert document["state"][0]["fields"] == [{"path": "['count']", "before": "2", "after": "3"}]
    assert {each["status"] for each in document["files"]} == {"A", "M"}
    assert os.fsencode(document["files"][-1]["after"]["path"]) == b"\xfe"


def test_json_of_equal_checkpoints(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    document = json.loads(verdog("diff", "--json", "first", "first").out)
    assert document["differs"] is False
    assert document["files"] == []
    assert json.loads(verdog("diff", "--json", "first", "first", "--", "plan").out)["state"] is None


def test_what_only_one_version_has_is_not_printed(verdog: Verdog, repository: Repository) -> None:
    made = HandMade(repository, "one")
    made.checkpoint(files={b"a/moved.txt": b"the very same content\n"})
    (made.output / "a/moved.txt").rename(made.output / "b.txt")
    made.checkpoint(files={b"new.txt": b"new text\n"})
    out = verdog("diff", "one").out
    assert "R      22 B      22 B  a/moved.txt => b.txt  (100 %)" in out
    assert "new.txt" in out
    assert "new text" not in out
    assert "R100\ta/moved.txt\tb.txt" in verdog("diff", "--name-status", "one").out


def test_modes_and_kinds_are_said(verdog: Verdog, repository: Repository) -> None:
    made = HandMade(repository, "one")
    made.checkpoint(files={b"run.sh": b"x", b"link": b"x"})
    (made.output / "run.sh").chmod(stat.S_IRWXU)
    (made.output / "link").unlink()
    (made.output / "link").symlink_to("run.sh")
    made.checkpoint()
    out = verdog("diff", "one").out
    assert "run.sh  (mode 0644 -> 0700)" in out
    assert "link  (file -> link)" in out


def test_empty_directories_are_listed(verdog: Verdog, repository: Repository) -> None:
    made = HandMade(repository, "one")
    made.checkpoint()
    (made.output / "empty").mkdir()
    made.checkpoint()
    assert "  empty/\n" in verdog("diff", "one").out


def test_nothing_in_a_file_reaches_the_terminal_raw(verdog: Verdog, repository: Repository) -> None:
    made = HandMade(repository, "one")
    made.checkpoint(files={b"a.txt": b"plain\n", b"b.json": b'["plain"]'})
    made.checkpoint(files={b"a.txt": b"\x1b[31mred\xfe\xe2\x80\xae\n", b"b.json": b'["\\u001b[31m\xc2\x9b"]'})
    out = verdog("diff", "one").out
    assert "+\\x1b[31mred\\xfe\\u202e" in out
    assert out.isprintable() or set(filter(lambda each: not each.isprintable(), out)) == {"\n"}


def test_long_values_are_cut_where_they_differ(verdog: Verdog, repository: Repository) -> None:
    made = HandMade(repository, "one")
    text = "x" * 300
    made.checkpoint(files={b"a.json": json.dumps({"key": text + "old" + text}).encode()})
    made.checkpoint(files={b"a.json": json.dumps({"key": text + "new" + text}).encode()})
    lines = verdog("diff", "one").out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert any("- …" in line and "old" in line for line in lines)
    assert any("+ …" in line and "new" in line for line in lines)


def test_much_is_cut_unless_the_path_is_named(verdog: Verdog, repository: Repository) -> None:
    made = HandMade(repository, "one")
    made.checkpoint(files={b"a.json": json.dumps(dict.fromkeys(map(str, range(60)), 1)).encode()})
    made.checkpoint(files={b"a.json": json.dumps(dict.fromkeys(map(str, range(60)), 2)).encode()})
    assert "  and 20 more\n" in verdog("diff", "one").out
    out = verdog("diff", "one", "--", "a.json").out
    assert "more" not in out
    assert out.count("1 -> 2") == 60


def test_many_visits_of_one_side_are_counted(verdog: Verdog, repository: Repository) -> None:
    made = HandMade(repository, "one")
    for _ in range(12):
        made.checkpoint()
    out = verdog("diff", "one@1", "one").out
    assert "visits: 11 more" in out
    assert "+ and 3 more" in out
    assert "visits: 11 fewer" in verdog("diff", "one", "one@1").out


def test_a_checkpoint_without_files_or_state_is_said(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    from verdog_cli.difference import format_files, format_state
    from verdog_repo.diff import Comparison, Side

    lost = Side(checkpoint=runs[0].repository.tip(runs[0].run), artifacts=None, state=None)
    nothing = Side(checkpoint=None, artifacts=None, state=None)
    with_visits = runs[0].repository.resolve("first").checkpoint
    from verdog_runtime.comparison import compare_checkpoints

    alignment = compare_checkpoints(runs[0].repository, None, with_visits).alignment
    comparison = Comparison(
        left=nothing, right=lost, alignment=alignment, divergence=None, state=None, files=None
    )
    store = runs[0].repository.store
    assert list(format_state(store, comparison, everything=False))[1] == "state: not recorded on +++"
    lines = list(format_files(store, comparison, [], content=True, everything=False))
    assert lines[1] == "files: not recorded on +++"


def test_different_workflows_have_their_files_compared(verdog: Verdog, project: Path) -> None:
    for name in ("one", "two"):
        (project / f"{name}.py").write_text(countdown())
        assert verdog("run", f"{name}.py", "--run-id", name).code == 0
    result = verdog("diff", "one", "two")
    assert "    runs of different workflows: only their files are compared" in result.out
    assert result.out.splitlines()[-1] == "no difference"


def test_a_fork_and_its_parent_are_aligned_after_the_fork_point(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown())
    assert verdog("run", "flow.py", "--run-id", "parent").code == 0
    assert verdog("fork", "parent@work#2", "--sessions", "fresh", "--output-dir", "forked").code == 0
    out = verdog("diff", "parent", "./forked").out
    assert "    both go on from parent@" in out
    assert out.splitlines()[-1] == "no difference"


def test_colours_are_for_terminals(verdog: Verdog, runs: tuple[HandMade, ...]) -> None:
    assert "\x1b[" not in verdog("diff", "first", "second").out
