"""Resuming with changed code: refused, naming every file, unless that is allowed."""

import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import line_graph, workflow
from tests.runtime.recorded import fork, header_of, refused, resume, run, stored_of
from verdog_runtime.refusals import Incompatible, WorkflowMismatch


@pytest.fixture
def clean_imports() -> Iterator[None]:
    """Forget what a test imported from its project."""
    modules, path = dict(sys.modules), list(sys.path)
    yield
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]
    sys.path[:] = path


SOURCE = """
from dataclasses import dataclass
from verdog_runtime.declarations import *
from demo.flow.helper import LIMIT

@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    n: int = 0

NODE = NodeDefinition(id="work", name="Work", operation=Python(), state_type=State)

def work(value, state, context, /):
    if value < LIMIT:
        raise ValueError("boom")
    return Success(output=value, state=state)

def edge(source, target, body=None):
    visit = None if body is None else VisitDefinition(implementation=body)
    return EdgeDefinition(id=f"{source}__{target}", source=source, target=target, visit=visit)

def definition():
    ports = {name: PortDefinition(id=name) for name in ("enter", "exit", "failure")}
    return SubroutineDefinition(graph=GraphDefinition(
        id="demo.flow.main", params_type=object, nodes=(NODE,),
        edges=(edge("enter", "work", work), edge("work", "exit")), **ports))
"""


@pytest.fixture
def authored(project: Path, clean_imports: None) -> Any:
    """A failed run of a project with code in `src`, and its workflow."""
    place = project / "src/demo/flow"
    (place / "subroutines").mkdir(parents=True)
    (place / "helper.py").write_text("LIMIT = 10\n")
    (place / "unused.py").write_text("")
    (place / "subroutines/main.py").write_text(textwrap.dedent(SOURCE))
    plain = workflow(line_graph())
    entry = replace(
        plain.entry,
        definition_id="demo.flow.main",
        definition_module="demo.flow.subroutines.main",
        params_types={(".", "demo.flow.main"): object},
    )
    definition = replace(plain, id="demo.flow.main", entry=entry)
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 5)
    return definition


def test_every_changed_file_is_named_with_both_hashes(project: Path, authored: Any) -> None:
    place = project / "src/demo/flow"
    (place / "helper.py").write_text("LIMIT = 1\n")
    (place / "subroutines/main.py").write_text(SOURCE.replace('id="work"', 'id="labour"'))
    (place / "unused.py").unlink()
    (place / "added.py").write_text("")
    error = refused(project, authored, Incompatible)
    assert error.code == "run.incompatible"
    added, helper, main, unused = error.differences
    assert added.startswith("src/demo/flow/added.py is new; it is ")
    assert unused.startswith("src/demo/flow/unused.py is gone; it was ")
    for line, name in ((helper, "helper.py"), (main, "subroutines/main.py")):
        before, _, now = line.removeprefix(f"src/demo/flow/{name} changed from ").partition(" to ")
        assert len(before) == len(now) == 12
        assert before != now
    assert all(f"\n  {line}" in str(error) for line in error.differences)


def test_changed_code_goes_on_when_that_is_allowed_and_is_remembered(project: Path, authored: Any) -> None:
    (project / "src/demo/flow/helper.py").write_text("LIMIT = 1\n")
    for name in [name for name in sys.modules if name.startswith("demo")]:
        del sys.modules[name]
    assert resume(project, authored, allow_changed_code=True).output == 5
    (difference,) = header_of(project).changed_code
    assert difference.startswith("src/demo/flow/helper.py changed from ")


def test_a_node_renamed_in_allowed_code_is_still_refused(project: Path, authored: Any) -> None:
    text = SOURCE.replace('id="work"', 'id="labour"').replace('"work"', '"labour"')
    (project / "src/demo/flow/subroutines/main.py").write_text(text)
    for name in [name for name in sys.modules if name.startswith("demo")]:
        del sys.modules[name]
    error = refused(project, authored, ValueError, allow_changed_code=True)
    assert "enter__work" in str(error)


def test_byte_code_and_files_outside_the_code_do_not_matter(project: Path, authored: Any) -> None:
    (project / "src/demo/flow/helper.pyc").write_bytes(b"x")
    (project / "README.md").write_text("x")
    with pytest.raises(ValueError, match="boom"):
        resume(project, authored)


def test_a_fork_with_changed_code_is_refused_and_can_be_allowed(project: Path, authored: Any) -> None:
    (project / "src/demo/flow/helper.py").write_text("LIMIT = 1\n")
    for name in [name for name in sys.modules if name.startswith("demo")]:
        del sys.modules[name]
    before = stored_of(project)
    with pytest.raises(Incompatible, match=r"src/demo/flow/helper\.py changed from"):
        fork(project, authored, 1)
    assert not (project / "forked").exists()
    assert fork(project, authored, 1, allow_changed_code=True).output == 5
    assert stored_of(project) == before
    assert len(header_of(project, "forked").changed_code) == 1


@pytest.mark.parametrize("operation", [resume, lambda *given, **rest: fork(*given, 1, **rest)])
def test_a_workflow_that_was_moved_goes_on_when_changed_code_is_allowed(
    project: Path, authored: Any, operation: Any
) -> None:
    place = project / "src/demo/flow"
    (place / "helper.py").write_text("LIMIT = 1\n")
    (place / "subroutines/moved.py").write_text("from demo.flow.subroutines.main import definition\n")
    for name in [name for name in sys.modules if name.startswith("demo")]:
        del sys.modules[name]
    module = "demo.flow.subroutines.moved"
    moved = replace(authored, entry=replace(authored.entry, definition_module=module))
    with pytest.raises(WorkflowMismatch, match=module):
        operation(project, moved)
    assert operation(project, moved, allow_changed_code=True).output == 5
    header = header_of(project, "out" if operation is resume else "forked")
    assert header.module == module
    assert any(module in each for each in header.changed_code)


def test_another_workflow_is_refused_even_if_changed_code_is_allowed(project: Path, authored: Any) -> None:
    other = replace(authored, id="demo.flow.other")
    refused(project, other, WorkflowMismatch, allow_changed_code=True)
