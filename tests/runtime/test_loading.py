import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.pieces import GRAPH
from verdog_runtime.declarations import (
    SubroutineCall,
    SubroutineDefinition,
    WorkflowConfiguration,
    WorkflowDefinition,
)
from verdog_runtime.interpreter.loading import (
    extend_import_path,
    load_subroutine,
    load_workflow_definition,
)

MODULE = "loading_case.main"


@pytest.fixture(autouse=True)
def imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Any:
    def plant(definition: object) -> None:
        module: Any = types.ModuleType(MODULE)
        module.definition = definition
        monkeypatch.setitem(sys.modules, MODULE, module)

    return plant


def workflow() -> WorkflowDefinition[Any, Any, Any, Any]:
    entry = SubroutineCall(
        definition_id="demo.flow.main",
        definition_module=MODULE,
        params_types={},
        profile_arguments={},
        session_arguments={},
    )
    return WorkflowDefinition(
        id="demo.flow.main", input_type=object, entry=entry, configuration=WorkflowConfiguration()
    )


def load(root: Path, name: str = "demo.flow.main") -> object:
    return load_subroutine(root, MODULE, name)  # type: ignore[arg-type]


def test_a_planted_module_is_loaded(tmp_path: Path, plant: Any) -> None:
    made = SubroutineDefinition(graph=GRAPH)
    plant(lambda: made)
    assert load(tmp_path) is made


def test_a_workflow_is_loaded_the_same_way(tmp_path: Path, plant: Any) -> None:
    made = workflow()
    plant(lambda: made)
    assert load_workflow_definition(tmp_path, MODULE, made.id) is made
    with pytest.raises(TypeError, match="SubroutineDefinition"):
        load(tmp_path)


def test_a_definition_is_made_anew_for_each_load(tmp_path: Path, plant: Any) -> None:
    plant(lambda: SubroutineDefinition(graph=GRAPH))
    assert load(tmp_path) is not load(tmp_path)


@pytest.mark.parametrize("definition", [None, 3, SubroutineDefinition(graph=GRAPH)])
def test_a_definition_must_be_callable(tmp_path: Path, plant: Any, definition: object) -> None:
    plant(definition)
    with pytest.raises(TypeError, match="callable"):
        load(tmp_path)


def test_a_definition_must_return_the_expected_class(tmp_path: Path, plant: Any) -> None:
    plant(lambda: GRAPH)
    with pytest.raises(TypeError, match="SubroutineDefinition"):
        load(tmp_path)
    plant(lambda: SubroutineDefinition(graph=GRAPH))
    with pytest.raises(TypeError, match="WorkflowDefinition"):
        load_workflow_definition(tmp_path, MODULE, "demo.flow.main")  # type: ignore[arg-type]


def test_a_definition_must_have_the_requested_id(tmp_path: Path, plant: Any) -> None:
    plant(lambda: SubroutineDefinition(graph=GRAPH))
    with pytest.raises(ValueError, match=r"demo\.flow\.main.*demo\.flow\.other"):
        load(tmp_path, "demo.flow.other")


def test_a_missing_module_is_an_import_error(tmp_path: Path) -> None:
    with pytest.raises(ImportError):
        load_subroutine(tmp_path, "loading_case.nowhere", "x")  # type: ignore[arg-type]


def test_modules_come_from_src_before_the_project(tmp_path: Path) -> None:
    text = (
        "from tests.runtime.pieces import GRAPH\n"
        "from verdog_runtime.declarations import SubroutineDefinition\n"
        "def definition(): return SubroutineDefinition(graph=GRAPH)\n"
    )
    (tmp_path / "src" / "loading_case").mkdir(parents=True)
    (tmp_path / "src" / "loading_case" / "main.py").write_text(text)
    (tmp_path / "loading_case").mkdir()
    (tmp_path / "loading_case" / "main.py").write_text("raise AssertionError\n")
    assert isinstance(load(tmp_path), SubroutineDefinition)


def test_the_import_path_is_extended_once(tmp_path: Path) -> None:
    extend_import_path(tmp_path)
    extend_import_path(tmp_path)
    root = tmp_path.resolve()
    assert sys.path[:2] == [str(root / "src"), str(root)]
    assert sys.path.count(str(root)) == sys.path.count(str(root / "src")) == 1


def test_src_must_not_lead_out_of_the_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (project / "src").symlink_to(tmp_path / "elsewhere")
    before = list(sys.path)
    with pytest.raises(ValueError, match="src"):
        load(project)
    assert sys.path == before


def test_src_may_be_a_link_inside_the_project(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "src").symlink_to("code")
    extend_import_path(tmp_path)
