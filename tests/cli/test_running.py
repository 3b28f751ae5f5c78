"""`run`, `resume`, `restart` and `fork` on real workflows, with every exit code they have."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.cli.workflows import FAILS_ONCE, HOLDS_A_LOCK, countdown
from tests.commandline import Verdog
from tests.processes import Starter
from verdog_repo.names import RunId
from verdog_repo.repository import Repository


@pytest.fixture
def flow(project: Path) -> Path:
    file = project / "flow.py"
    file.write_text(countdown())
    return file


def wait_for(file: Path) -> None:
    for _ in range(2000):
        if file.exists():
            return
        time.sleep(0.01)
    raise AssertionError(f"{file} never appeared")


def test_run_prints_a_line_per_visit_and_the_result(verdog: Verdog, flow: Path) -> None:
    result = verdog("run", "flow.py", "--run-id", "first")
    assert result.code == 0
    assert result.err == ""
    lines = result.out.splitlines()
    assert lines[0] == "run first"
    assert lines[1].startswith("writing to .verdog/runs/countdown/")
    assert [line.split()[:2] for line in lines[2:5]] == [
        ["1", "enter/000001"],
        ["2", "start/000001"],
        ["3", "work/000001"],
    ]
    assert "succeeded: 9 checkpoints" in lines
    assert "  result  Count(value=3)" in lines
    assert all(len(line) <= 80 for line in lines)


def test_arguments_after_the_dashes_belong_to_the_workflow(verdog: Verdog, flow: Path) -> None:
    result = verdog("run", "flow.py", "--run-id", "first", "--", "--input.value", "1")
    assert "  result  Count(value=1)" in result.out.splitlines()
    assert "--input.value 1" in verdog("runs").out


def test_help_of_a_workflow_lists_its_arguments(verdog: Verdog, flow: Path) -> None:
    result = verdog("run", "flow.py", "--", "--help")
    assert result.code == 0
    assert "--input.value" in result.out
    assert not (flow.parent / ".verdog").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "flow.py", "--", "--input.value", "many"),
        ("run", "flow.py", "--", "--nonsense"),
        ("run", "nothing.py"),
        ("run", "flow.py:nothing"),
        ("run", "no_such_module"),
        ("run", "flow.py", "--checkpointing", "sometimes"),
        ("run", "flow.py", "--run-id", "../x"),
        ("run", "flow.py", "--run-id", ""),
        ("run",),
        ("resume", "nothing"),
        ("fork", "nothing@1", "--sessions", "fresh"),
        ("restart", "nothing"),
    ],
)
def test_a_wrong_command_line_exits_2_and_writes_nothing(
    verdog: Verdog, flow: Path, arguments: tuple[str, ...]
) -> None:
    result = verdog(*arguments)
    assert result.code == 2, result
    assert result.err
    assert "Traceback" not in result.err
    assert not list(flow.parent.glob(".verdog/runs/*/*"))


def test_an_output_directory_in_use_is_refused(verdog: Verdog, flow: Path) -> None:
    (flow.parent / "out").mkdir()
    (flow.parent / "out" / "mine").touch()
    result = verdog("run", "flow.py", "--output-dir", "out")
    assert result.code == 2
    assert "out" in result.err
    assert [path.name for path in (flow.parent / "out").iterdir()] == ["mine"]


def test_a_used_run_id_is_refused(verdog: Verdog, flow: Path) -> None:
    assert verdog("run", "flow.py", "--run-id", "first").code == 0
    result = verdog("run", "flow.py", "--run-id", "first")
    assert result.code == 2
    assert "first" in result.err


def test_run_as_json_is_one_document(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown('print("noise", flush=True)'))
    result = verdog("run", "flow.py", "--run-id", "first", "--json")
    document = json.loads(result.out)
    assert (document["schema_version"], document["operation"], document["status"]) == (1, "run", "succeeded")
    assert document["run"] == "first"
    assert document["checkpoints"] == 9
    assert document["error"] is None
    assert "noise" in result.err


def test_an_error_as_json_is_one_document_too(verdog: Verdog, flow: Path) -> None:
    result = verdog("run", "nothing.py", "--json")
    assert result.code == 2
    document = json.loads(result.out)
    assert document["status"] == "error"
    assert document["error"]["kind"] == "not_found"


def test_wrong_arguments_as_json_are_one_document_too(verdog: Verdog, flow: Path) -> None:
    result = verdog("run", "flow.py", "--json", "--", "--input.value", "many")
    assert result.code == 2
    assert json.loads(result.out)["error"]["code"] == "workflow.arguments_invalid"
    assert "--input.value" in result.err


@pytest.mark.parametrize("run_id", ["", " ", "../x", "a/b", "x" * 300])
def test_a_run_id_that_is_no_name_is_refused_before_anything_is_written(
    verdog: Verdog, flow: Path, run_id: str
) -> None:
    assert verdog("run", "flow.py", "--run-id", run_id).code == 2
    assert not list(flow.parent.glob(".verdog/runs/*/*"))


def test_a_failed_run_exits_1_and_resume_goes_on_where_it_failed(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    result = verdog("run", "flow.py", "--run-id", "first")
    assert result.code == 1
    assert "RuntimeError: not mended yet" in result.err
    assert "stacktrace.txt" in result.err
    assert "Traceback" not in result.err
    assert verdog("runs").out.splitlines()[1].split()[1] == "failed"
    assert verdog("resume", "first").code == 1
    (project / "mended").touch()
    result = verdog("resume", "first")
    assert result.code == 0
    assert "Count(value=3)" in result.out
    numbers = [path.read_text() for path in sorted(project.glob(".verdog/runs/*/*/work/*/n.txt"))]
    assert numbers == ["0", "1", "2", "3"]


def test_a_run_at_its_limit_of_transitions_goes_on_when_it_is_given_more(verdog: Verdog, flow: Path) -> None:
    result = verdog("run", "flow.py", "--run-id", "first", "--transitions", "5")
    assert result.code == 1
    assert "[transition_limit]" in result.err
    assert "`verdog resume first --transitions 10000`" in result.err
    assert verdog("resume", "first").code == 1
    assert verdog("fork", "first@5", "--sessions", "fresh", "--transitions", "4").code == 0
    assert verdog("resume", "first", "--transitions", "3").code == 1
    result = verdog("resume", "first", "--transitions", "1")
    assert result.code == 0
    assert "Count(value=3)" in result.out


def test_a_failed_run_as_json_has_the_traceback(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    result = verdog("run", "flow.py", "--json")
    assert result.code == 1
    error = json.loads(result.out)["error"]
    assert error["type"].endswith("RuntimeError")
    assert "in count" in error["traceback"]


def test_a_succeeded_run_cannot_be_resumed(verdog: Verdog, flow: Path) -> None:
    verdog("run", "flow.py", "--run-id", "first")
    result = verdog("resume", "first")
    assert result.code == 1
    assert result.err.startswith("error: ")


def test_resume_refuses_a_changed_artifact_and_names_it(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    verdog("run", "flow.py", "--run-id", "first")
    (project / "mended").touch()
    (file,) = project.glob(".verdog/runs/*/*/work/000001/n.txt")
    file.write_text("edited")
    result = verdog("resume", "first", "--json")
    assert result.code == 4
    assert "work/000001/n.txt" in result.err
    assert json.loads(result.out)["error"]["paths"] == ["work/000001/n.txt"]


def test_resume_refuses_changed_code_unless_it_is_allowed(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    verdog("run", "flow.py", "--run-id", "first")
    (project / "flow.py").write_text(countdown())
    result = verdog("resume", "first")
    assert result.code == 1
    assert "flow.py" in result.err
    assert verdog("resume", "first", "--allow-changed-code").code == 0


def test_a_long_value_is_shown_whole_on_request(verdog: Verdog, project: Path) -> None:
    text = " ".join(map(str, range(2000)))
    flow = countdown().replace("value: int = 3", f"value: int = 3\n    text: str = {text!r}")
    (project / "flow.py").write_text(flow)
    verdog("run", "flow.py", "--run-id", "first")
    short, whole = verdog("show", "first").out, verdog("show", "first", "--all-values").out
    assert " 100 " in short
    assert " 1998 " not in short
    assert "    ... (--all-values)" in short.splitlines()
    assert " 1998 1999" in whole
    assert "..." not in whole
    assert " 1998 1999" in verdog("show", "first", "--all-values", "--json").out


def test_an_interrupted_run_that_cannot_go_on_is_to_be_restarted(
    verdog: Verdog, project: Path, processes: Starter
) -> None:
    waits = "import time; open('waiting', 'w').close(); time.sleep(60)"
    last = "    return Success(output=Held(), state=None)"
    flow = HOLDS_A_LOCK.replace(last, f"    {waits}\n{last}")
    (project / "flow.py").write_text(flow)
    child = processes.start("run", "flow.py", "--run-id", "first")
    wait_for(project / "waiting")
    child.send_signal(signal.SIGINT)
    code, _, err = child.finish()
    assert code == 130
    assert "`verdog restart first --sessions fresh` begins again" in err
    assert "verdog resume" not in err
    assert verdog("resume", "first").code == 1


def test_a_fork_without_word_on_conversations_is_told_what_suits(verdog: Verdog, flow: Path) -> None:
    verdog("run", "flow.py", "--run-id", "first")
    for words in ("fork", "first@3"), ("restart", "first"):
        result = verdog(*words)
        assert result.code == 2
        assert "needs --sessions branch or fresh" in result.err
        assert "`--sessions fresh`" in result.err


@pytest.mark.parametrize("words", [("fork", "first@work#2"), ("restart", "first")])
def test_a_run_made_from_another_one_can_be_named(verdog: Verdog, flow: Path, words: tuple[str, ...]) -> None:
    verdog("run", "flow.py", "--run-id", "first")
    made = verdog(*words, "--sessions", "fresh", "--run-id", "second")
    assert made.code == 0
    assert made.out.startswith("run second\n")
    assert "second@" in verdog("log", "second", "-n", "1").out
    before = sorted(flow.parent.glob(".verdog/runs/*/*"))
    for name in ("first", "second", "a b"):
        result = verdog(*words, "--sessions", "fresh", "--run-id", name)
        assert result.code == 2
        assert name in result.err
    assert sorted(flow.parent.glob(".verdog/runs/*/*")) == before


def test_a_fork_is_marked_where_checkpoints_are_listed(verdog: Verdog, flow: Path) -> None:
    verdog("run", "flow.py", "--run-id", "first")
    verdog("fork", "first@work#2", "--sessions", "fresh", "--output-dir", "other")
    for option in (), ("--oneline",), ("--graph",):
        marked = [line for line in verdog("log", "other", *option).out.splitlines() if "(fork)" in line]
        assert len(marked) == 1
        assert "@1 " in marked[0]
        assert "work/000002 (fork) " in marked[0]


def test_show_and_diff_tell_which_code_two_checkpoints_were_made_with(verdog: Verdog, project: Path) -> None:
    flow = project / "flow.py"
    flow.write_text(countdown())
    verdog("run", "flow.py", "--run-id", "first")
    for name, body in (("same", "pass"), ("other", "value.value")):
        flow.write_text(countdown(body))
        options = ("--sessions", "fresh", "--output-dir", name, "--allow-changed-code")
        assert verdog("fork", "first@work#2", *options).code == 0
    (line,) = [each for each in verdog("show", "other@2").out.splitlines() if each.startswith("code ")]
    told = line.removeprefix("code").strip()
    assert told.startswith("flow.py changed from ")
    assert "\ncode " not in verdog("show", "other@3").out
    assert json.loads(verdog("show", "other@2", "--json").out)["code"] == [told]
    assert f"code: 1 difference\n  {told}\n\nno other difference\n" in verdog("diff", "same", "other").out
    assert verdog("diff", "--exit-code", "same", "other").code == 0
    assert json.loads(verdog("diff", "same", "other", "--json").out)["code"] == [told]
    assert "code" not in verdog("diff", "first", "same").out


def test_many_changes_of_code_are_counted_in_text_and_whole_in_json(verdog: Verdog, project: Path) -> None:
    (project / "pyproject.toml").touch()
    (project / "src").mkdir()
    (project / "flow.py").write_text(countdown())
    verdog("run", "flow.py", "--run-id", "first")
    for number in range(20):
        (project / f"src/helper_{number:02}.py").touch()
    options = ("--sessions", "fresh", "--output-dir", "other", "--allow-changed-code")
    assert verdog("fork", "first@work#2", *options).code == 0
    assert verdog("show", "other@2").out.count("\ncode  ") == 13
    assert "\ncode       and 8 more\n" in verdog("show", "other@2").out
    assert "\n  and 8 more\n" in verdog("diff", "first", "other").out
    assert len(json.loads(verdog("show", "other@2", "--json").out)["code"]) == 20


def test_a_run_that_another_process_holds_is_busy(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    verdog("run", "flow.py", "--run-id", "first")
    (project / "mended").touch()
    with Repository.open(project) as repository, repository.lease(RunId("first"), owner="a test"):
        result = verdog("resume", "first")
    assert result.code == 5
    assert result.err.startswith("error: ")


def test_a_value_that_cannot_be_stored_is_reported_and_counted(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(HOLDS_A_LOCK)
    result = verdog("run", "flow.py", "--run-id", "first")
    assert result.code == 0
    assert result.err.count("warning: checkpoint 2 ") == 1
    assert "1 of 3 checkpoints cannot be resumed or forked" in result.err
    assert verdog("fork", "first@2", "--sessions", "fresh").code == 1
    strict = verdog("run", "flow.py", "--run-id", "strict", "--checkpointing", "required")
    assert strict.code == 1


def test_checkpointing_off_commits_nothing(verdog: Verdog, flow: Path) -> None:
    result = verdog("run", "flow.py", "--run-id", "first", "--checkpointing", "off")
    assert result.code == 0
    assert "succeeded: 0 checkpoints" in result.out
    assert verdog("resume", "first").code == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_exits_130_and_can_be_resumed(
    verdog: Verdog, project: Path, processes: Starter, number: signal.Signals
) -> None:
    body = 'if not Path("mended").exists():\n    import time\n    Path("waiting").touch()\n    time.sleep(60)'
    (project / "flow.py").write_text(countdown(body))
    child = processes.start("run", "flow.py", "--run-id", "first")
    wait_for(project / "waiting")
    child.send_signal(number)
    code, out, err = child.finish()
    assert code == 130
    assert "interrupted" in out
    assert "Traceback" not in err
    assert "verdog resume first" in err
    (project / "mended").touch()
    assert verdog("resume", "first").code == 0


IN_A_FINALISER = """
import signal

class Fading:
    def __del__(self):
        signal.raise_signal({number})

if not Path("mended").exists():
    import time
    Fading()
    time.sleep(30)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_heeded_although_it_came_while_python_ignores_exceptions(
    verdog: Verdog, project: Path, processes: Starter, number: signal.Signals
) -> None:
    (project / "flow.py").write_text(countdown(IN_A_FINALISER.format(number=number.value)))
    code, out, err = processes.run("run", "flow.py", "--run-id", "first")
    assert code == 130
    assert "interrupted" in out
    assert "KeyboardInterrupt" not in err
    (project / "mended").touch()
    assert verdog("resume", "first").code == 0


def test_a_killed_run_is_resumed_from_its_last_checkpoint(
    verdog: Verdog, project: Path, processes: Starter
) -> None:
    body = 'if state.taken == 2 and not Path("mended").exists():\n    import os\n    os.kill(os.getpid(), 9)'
    (project / "flow.py").write_text(countdown(body))
    assert processes.run("run", "flow.py", "--run-id", "first").code == -signal.SIGKILL
    assert verdog("runs").out.splitlines()[1].split()[:3] == ["first", "interrupted", "6"]
    (project / "mended").touch()
    result = verdog("resume")
    assert result.code == 0
    assert "     7  work/000004" in result.out


def test_nobody_reading_does_not_stop_a_run(flow: Path, processes: Starter) -> None:
    flow.write_text(countdown('print("a step may print, too", flush=True)'))
    done = processes.run_until("run", "flow.py", "--run-id", "first", lines=0, cwd=flow.parent)
    assert done == (0, "", "")
    with Repository.open(flow.parent, read_only=True) as repository:
        assert repository.header(RunId("first")).status == "succeeded"


def test_the_exit_code_of_a_failed_run_does_not_depend_on_a_reader(flow: Path, processes: Starter) -> None:
    flow.write_text(countdown(FAILS_ONCE))
    done = processes.run_until("run", "flow.py", "--run-id", "first", lines=0, cwd=flow.parent)
    assert done.code == 1
    assert "error: RuntimeError: not mended yet" in done.err


def test_fork_goes_on_from_a_checkpoint_in_a_new_run(verdog: Verdog, flow: Path) -> None:
    verdog("run", "flow.py", "--run-id", "first")
    before = verdog("log", "first").out
    result = verdog("fork", "first@4", "--sessions", "fresh", "--output-dir", "forked", "--json")
    assert result.code == 0
    document = json.loads(result.out)
    assert document["operation"] == "fork"
    assert (flow.parent / "forked/work/000004/n.txt").read_text() == "3"
    assert verdog("log", "first").out == before
    lines = verdog("runs").out.splitlines()
    assert lines[2].startswith("+ ")
    assert "first@4" in verdog("log", document["run"], "--oneline").out
    assert verdog("fork", "first", "--checkpoint", "3", "--sessions", "fresh").code == 0


def test_a_fork_that_is_only_made_can_be_resumed(verdog: Verdog, flow: Path) -> None:
    verdog("run", "flow.py", "--run-id", "first")
    result = verdog("fork", "first@4", "--sessions", "fresh", "--no-run", "--json")
    assert result.code == 0
    run = json.loads(result.out)["run"]
    assert verdog("resume", run).code == 0
    made = verdog("fork", "first@4", "--sessions", "fresh", "--no-run")
    assert made.code == 0
    assert "made, not started" in made.out


def test_restart_begins_again_with_the_same_or_other_arguments(verdog: Verdog, flow: Path) -> None:
    verdog("run", "flow.py", "--run-id", "first", "--", "--input.value", "1")
    assert "Count(value=1)" in verdog("restart", "first", "--sessions", "fresh").out
    replaced = verdog("restart", "first", "--sessions", "fresh", "--", "--input.value", "2")
    assert "Count(value=2)" in replaced.out
    assert "Count(value=3)" in verdog("restart", "first", "--sessions", "fresh", "--").out
    assert "Count(value=3)" in verdog("restart", "first", "--sessions", "fresh", "--args-json", "[]").out


@pytest.mark.parametrize("text", ["{}", "[1]", "nonsense", "[" * 100_000])
def test_other_arguments_are_a_list_of_strings(verdog: Verdog, flow: Path, text: str) -> None:
    verdog("run", "flow.py", "--run-id", "first")
    assert verdog("restart", "first", "--sessions", "fresh", "--args-json", text).code == 2
    assert verdog("restart", "first", "--sessions", "fresh", "--args-json", "[]", "--").code == 2


def test_a_damaged_store_exits_4(verdog: Verdog, flow: Path) -> None:
    verdog("run", "flow.py", "--run-id", "first")
    database = flow.parent / ".verdog/store/store.db"
    for name in ("store.db-wal", "store.db-shm"):
        (database.parent / name).unlink(missing_ok=True)
    database.write_bytes(b"\0" * database.stat().st_size)
    result = verdog("log", "first")
    assert result.code == 4
    assert "Traceback" not in result.err
    assert verdog("--traceback", "log", "first").err.count("Traceback") >= 1


def test_a_read_only_disk_exits_6(flow: Path, monkeypatch: pytest.MonkeyPatch, verdog: Verdog) -> None:
    from verdog_objects.errors import Unavailable

    verdog("run", "flow.py")

    def refuse(*arguments: object, **options: object) -> None:
        raise Unavailable("the store is on a read-only file system")

    monkeypatch.setattr(Repository, "open", refuse)
    assert verdog("runs").code == 6


def test_a_project_is_found_from_below_and_by_c(verdog: Verdog, flow: Path) -> None:
    verdog("run", "flow.py", "--run-id", "first")
    below = flow.parent / "a" / "b"
    below.mkdir(parents=True)
    assert "first" in verdog("-C", "a/b", "runs").out
    os.chdir(below)
