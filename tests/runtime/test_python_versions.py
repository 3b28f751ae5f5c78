"""The declarations under newer interpreters: generated projects subscript them at import."""

import shutil
import subprocess
from pathlib import Path

import pytest
import typing_extensions

import verdog_runtime

SCRIPT = """
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Literal

from verdog_runtime.declarations import *
from verdog_runtime.declarations.agents import AgentRequest
from verdog_runtime.interpreter import initial_workflow_state, validate_graph

@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    taken: int = 0

type Scope = Literal["demo.flow.main"]
common = dict(run_id="r", graph_id="g", node_id="n", edge_id="e", output_dir=Path("."), params=State())
NodeContext[State](**common)
AgentNodeContext[State](**common, _invoke=print)
CallContext[State, State, int, int](**common, child_params=State(), _invoke=print)
CallContext[State](**common, child_params=State(), _invoke=print)
CallVisitDefinition[int, int, State, None, int, int, None](implementation=print)
AgentProfileDefinition[int, None](id="p", name="P", implementation=print)
work = NodeDefinition[State, Scope](id="work", name="W", operation=Python(), state_type=State)
left = FeatureDefinition[int, Scope](id="left", label="L", description="", kind=FeatureKind.INTEGER)
succeed = lambda value, state, context, /: Success[int, State](output=1, state=state)
graph = GraphDefinition[int, int, None, Scope](
    id="demo.flow.main", params_type=int | None, nodes=(work,), features=(left,),
    enter=PortDefinition(id="enter"), exit=PortDefinition(id="exit"), failure=PortDefinition(id="failure"),
    edges=(
        EdgeDefinition(id="a", source="enter", target="work", visit=VisitDefinition(implementation=succeed)),
        EdgeDefinition(id="b", source="work", target="exit"),
    ),
)
validate_graph(graph)
state = initial_workflow_state(graph)
FeatureSuccess[Scope](state=FeatureState[Scope].over(state).replace(left, 3))
WorkflowState[Scope](), FeatureState[Scope]()
SubroutineDefinition[int, int, None, Scope](graph=graph)
entry = SubroutineCall(definition_id="demo.flow.main", definition_module="demo.flow.main", params_types={},
                       profile_arguments={}, session_arguments={})
flow = WorkflowDefinition[int, int, None, Scope](
    id="demo.flow.main", input_type=int, entry=entry, configuration=WorkflowConfiguration())
replace(flow, configuration=WorkflowConfiguration())
print("subscripted and called")
"""


def interpreters() -> list[Path]:
    versions = ("3.12", "3.13", "3.14")
    found = [Path(path) for version in versions if (path := shutil.which(f"python{version}"))]
    pyenv = Path.home() / ".pyenv" / "versions"
    built = [path for version in versions for path in sorted(pyenv.glob(f"{version}.*/bin/python"))]
    # A shim of pyenv only starts where its version was chosen; the interpreters behind it are in `built`.
    return [*(path for path in found if path.parent.name != "shims"), *built]


@pytest.mark.parametrize("python", interpreters(), ids=lambda path: path.parts[-3])
def test_generic_declarations_can_be_subscripted_and_called(python: Path, tmp_path: Path) -> None:
    shutil.copy(typing_extensions.__file__, tmp_path)
    path = f"{tmp_path}:{Path(verdog_runtime.__file__).parents[1]}"
    done = subprocess.run(
        [python, "-B", "-W", "error", "-c", SCRIPT],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == "subscripted and called\n"
