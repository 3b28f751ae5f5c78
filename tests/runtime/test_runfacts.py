"""What `run.json` says beside the header: code, environment and interpreter, and what came out."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import Count, count_visits, line_graph, loop_graph, workflow
from tests.runtime.recorded import fail_in, fork, opened, resume, run, run_id
from verdog_objects.oid import Kind, compute_oid
from verdog_repo.repository import Repository
from verdog_runtime import runfacts
from verdog_runtime.declarations import Success
from verdog_runtime.environment import fingerprint
from verdog_runtime.fingerprint import Distribution, Environment
from verdog_runtime.interpreter.forking import ForkRequest, examine_fork, make_fork
from verdog_runtime.interpreter.openbooks import new_operation
from verdog_runtime.interpreter.policies import SessionPolicy
from verdog_runtime.registration import register_directory
from verdog_runtime.runfacts import describe_compatibility
from verdog_runtime.runs import RunStore


def read_record(output: Path) -> dict[str, Any]:
    return json.loads((output / ".verdog/run.json").read_text(encoding="utf-8"))


def output_of(value: object) -> Any:
    def work(given: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        return Success(output=value, state=Count(n=1))

    return workflow(line_graph(work))


# Compatibility.


@pytest.fixture
def environment(project: Path) -> Environment:
    return fingerprint(project)


def differing(before: Environment, after: Environment) -> set[str]:
    old, new = describe_compatibility(before), describe_compatibility(after)
    return {name for name in old if old[name] != new[name]}


def test_the_facts_are_those_of_this_process(environment: Environment) -> None:
    facts = describe_compatibility(environment)
    assert facts["format"] == "4"
    assert facts["python"] == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert facts["python_implementation"] == sys.implementation.name
    assert facts["python_cache_tag"] == sys.implementation.cache_tag
    for name in ("runtime_sha256", "source_sha256", "environment_sha256"):
        assert len(bytes.fromhex(facts[name])) == 32


def test_a_runtime_whose_files_cannot_be_read_has_no_hash(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(runfacts, "_digest_files", refuse)
    monkeypatch.setattr(runfacts, "_is_installed", lambda _version: False)
    assert describe_compatibility(environment)["runtime_sha256"] == "unknown"


def test_a_changed_source_changes_its_hash_alone(environment: Environment) -> None:
    one, two = (compute_oid(Kind.BLOB, text) for text in (b"one", b"two"))
    before, after = (replace(environment, files={"src/a.py": oid}) for oid in (one, two))
    assert differing(before, after) == {"source_sha256"}
    renamed = replace(environment, files={"src/b.py": one})
    assert differing(before, renamed) == {"source_sha256"}


def test_the_source_of_a_project_is_what_is_in_src_and_else_what_was_loaded(environment: Environment) -> None:
    one, two = (compute_oid(Kind.BLOB, text) for text in (b"one", b"two"))
    source, loaded = {"src/a.py": one}, {"flow.py": two}
    assert differing(replace(environment, files=source), replace(environment, files=source | loaded)) == set()
    assert differing(replace(environment, files={}), replace(environment, files=loaded)) == {"source_sha256"}


def test_another_package_changes_the_hash_of_the_environment_alone(environment: Environment) -> None:
    more = Distribution(name="more", version="1", record=None)
    after = replace(environment, distributions=(*environment.distributions, more))
    assert differing(environment, after) == {"environment_sha256"}


def test_another_interpreter_is_another_fact(environment: Environment) -> None:
    after = replace(environment, python={**environment.python, "version": "3.99"})
    assert differing(environment, after) == {"python", "python_cache_tag"}


def test_a_run_says_the_same_of_its_code_from_the_beginning_to_the_end(project: Path) -> None:
    (project / "src").mkdir()
    (project / "src/code.py").write_text("a = 1\n")
    seen: list[Any] = []

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        seen.append(read_record(project / "out")["compatibility"])
        (project / "src/code.py").write_text("a = 2\n")
        return count_visits(value, state, context)

    run(project, workflow(line_graph(work)), 1)
    assert read_record(project / "out")["compatibility"] == seen[0]
    assert RunStore.open(project / "out").manifest().compatibility == seen[0]


def test_a_fork_that_is_not_executed_has_the_facts_of_its_source(project: Path) -> None:
    run(project, workflow(line_graph()), 1)
    with Repository.open(project) as repository:
        tip = repository.tip(run_id(project / "out"))
        assert tip is not None
        request = ForkRequest(
            source=tip.commit,
            run="two",
            output_dir=project / "two",
            sessions=SessionPolicy.FRESH,  # type: ignore[arg-type]
        )
        make_fork(
            repository,
            examine_fork(repository, request),
            request,
            new_operation("fork", "2026-11-30T00:00:00Z", ()),
        )
    one, two = read_record(project / "out"), read_record(project / "two")
    assert two["compatibility"] == one["compatibility"]
    assert (two["status"], two["result"], two["result_text"]) == ("interrupted", None, None)


# What came out.


def test_the_record_has_the_output_as_json(project: Path) -> None:
    run(project, output_of({"a": (1, 2.5), "b": None, "c": Path("x")}), 1)
    assert read_record(project / "out")["result"] == {"a": [1, 2.5], "b": None, "c": "x"}


def test_the_record_of_a_failed_run_has_the_error_and_a_later_success_removes_it(project: Path) -> None:
    with pytest.raises(ValueError, match="boom"):
        run(project, workflow(loop_graph(fail_in(1))), 0)
    document = read_record(project / "out")
    assert document["error"] == {"type": "ValueError", "message": "boom"}
    assert (document["result"], document["result_text"]) == (None, None)
    resume(project, workflow(loop_graph()))
    document = read_record(project / "out")
    assert (document["error"], document["result"], document["result_text"]) == (None, 0, "0")


def test_an_output_that_is_too_large_for_the_record_is_there_as_text(project: Path) -> None:
    run(project, output_of("x" * 100_000), 1)
    document = read_record(project / "out")
    assert document["result"] is None
    assert len(document["result_text"]) == 400


def test_an_output_that_is_no_unicode_does_not_break_the_record(project: Path) -> None:
    run(project, output_of({"\ud800": "\udcff"}), 1)
    assert read_record(project / "out")["result"] == {"\ud800": "\udcff"}
    assert RunStore.open(project / "out").manifest().status == "succeeded"


def test_a_directory_that_is_registered_again_keeps_what_its_record_said(project: Path) -> None:
    run(project, output_of([1]), 1)
    before = read_record(project / "out")
    (project / "out").rename(project / "moved")
    with Repository.open(project) as repository:
        register_directory(repository, project / "moved")
    after = read_record(project / "moved")
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"output_dir", "updated_at"}


def test_a_fork_has_a_result_of_its_own(project: Path) -> None:
    definition = workflow(loop_graph())
    run(project, definition, 1)
    fork(project, definition, 2)
    assert read_record(project / "forked")["result"] == 1
    with opened(project) as repository:
        assert len(repository.runs()) == 2
