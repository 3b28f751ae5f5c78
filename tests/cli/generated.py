"""A project in the layout that the generator of Verdog projects writes: a countdown, one package per part."""

import sys
from pathlib import Path

PACKAGE = "src/demo/countdown"
MAIN = f"{PACKAGE}/subroutines/main"

SCOPE = (
    "type StateScope = Literal['demo.countdown.main']"
    if sys.version_info >= (3, 12)
    else "from typing_extensions import TypeAliasType\n"
    "StateScope = TypeAliasType('StateScope', Literal['demo.countdown.main'])"
)

SUBROUTINE = f"""
from dataclasses import dataclass
from functools import cache
from typing import Literal
from verdog_runtime.declarations import GraphDefinition, SubroutineDefinition
from verdog_runtime.declarations.ids import EdgeId, FeatureId, GraphId, NodeId
from .impl import Count, Params
GRAPH_ID = GraphId('demo.countdown.main')
{SCOPE}
@dataclass(frozen=True, kw_only=True)
class NodeIds:
    enter: NodeId = NodeId('enter')
    exit: NodeId = NodeId('exit')
    failure: NodeId = NodeId('failure')
    set_counter: NodeId = NodeId('set_counter')
    decrement: NodeId = NodeId('decrement')
    update_counter: NodeId = NodeId('update_counter')
NODE_IDS = NodeIds()
@dataclass(frozen=True, kw_only=True)
class EdgeIds:
    enter__set_counter: EdgeId = EdgeId('enter__set_counter')
    set_counter__decrement: EdgeId = EdgeId('set_counter__decrement')
    decrement__update_counter: EdgeId = EdgeId('decrement__update_counter')
    update_counter__decrement: EdgeId = EdgeId('update_counter__decrement')
    decrement__exit: EdgeId = EdgeId('decrement__exit')
EDGE_IDS = EdgeIds()
@dataclass(frozen=True, kw_only=True)
class FeatureIds:
    counter: FeatureId = FeatureId('counter')
FEATURE_IDS = FeatureIds()
@cache
def definition() -> SubroutineDefinition[Count, Count, Params, StateScope]:
    from .nodes.enter import PORT as ENTER
    from .nodes.exit import PORT as EXIT
    from .nodes.failure import PORT as FAILURE
    from .nodes.decrement import NODE as DECREMENT
    from .nodes.set_counter import NODE as SET_COUNTER
    from .nodes.update_counter import NODE as UPDATE_COUNTER
    from .edges.enter__set_counter import EDGE as EDGE_1
    from .edges.set_counter__decrement import EDGE as EDGE_2
    from .edges.decrement__update_counter import EDGE as EDGE_3
    from .edges.update_counter__decrement import EDGE as EDGE_4
    from .edges.decrement__exit import EDGE as EDGE_5
    from .features.counter import FEATURE as COUNTER
    return SubroutineDefinition(graph=GraphDefinition[Count, Count, Params, StateScope](
        id=GRAPH_ID, params_type=Params, enter=ENTER, exit=EXIT, failure=FAILURE,
        nodes=(SET_COUNTER, DECREMENT, UPDATE_COUNTER), features=(COUNTER,),
        edges=(EDGE_1, EDGE_2, EDGE_3, EDGE_4, EDGE_5),
    ))
"""

TYPES = """
from dataclasses import dataclass
@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    value: int = 3
@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    step: int = 1
"""

FEATURE = """
from verdog_runtime.declarations import FeatureDefinition, FeatureKind
from ... import FEATURE_IDS, StateScope
FEATURE = FeatureDefinition[int, StateScope](
    id=FEATURE_IDS.counter, label='Counter', description='', kind=FeatureKind.INTEGER)
"""

FEATURE_NODE = """
from verdog_runtime.declarations import Feature, FeatureNodeDefinition
from ... import NODE_IDS
NODE = FeatureNodeDefinition(id=NODE_IDS.{name}, name='{name}', operation=Feature())
"""

PYTHON_NODE = """
from verdog_runtime.declarations import NodeDefinition, Python
from ... import NODE_IDS, StateScope
from .impl import State
NODE = NodeDefinition[State, StateScope](
    id=NODE_IDS.decrement, name='decrement', state_type=State, operation=Python())
"""

STATE = """
from dataclasses import dataclass
@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    visits: int = 0
"""

FEATURE_VISIT = """
from verdog_runtime.declarations import FeatureState, FeatureSuccess, NodeContext, VisitDefinition
from demo.countdown.subroutines.main import StateScope
from demo.countdown.subroutines.main.impl import Count as Input, Params
State = FeatureState[StateScope]
Context = NodeContext[Params]
Result = FeatureSuccess[StateScope]
def visit(input: Input, state: State, context: Context, /) -> Result:
    from .impl import visit_impl
    return visit_impl(input, state, context)
VISIT = VisitDefinition(implementation=visit)
"""

PYTHON_VISIT = """
from verdog_runtime.declarations import NodeContext, Success, VisitDefinition
from demo.countdown.subroutines.main.impl import Count as Input, Params
from ...impl import State
Context = NodeContext[Params]
Result = Success[Input, State]
def visit(input: Input, state: State, context: Context, /) -> Result:
    from .impl import visit_impl
    return visit_impl(input, state, context)
VISIT = VisitDefinition(implementation=visit)
"""

COUNTING = """
from verdog_runtime.declarations import FeatureSuccess
from demo.countdown.subroutines.main.features.counter import FEATURE
def visit_impl(input, state, context, /):
    before = state.get(FEATURE)
    if before is not None and input.value >= before:
        raise ValueError(f'{input.value} is not below {before}')
    return FeatureSuccess(state=state.replace(FEATURE, input.value))
"""

DECREMENT = """
from pathlib import Path
from verdog_runtime.declarations import Success
from demo.countdown.subroutines.main.impl import Count
from demo.countdown.subroutines.main.nodes.decrement.impl import State
def visit_impl(input, state, context, /):
    if Path('stop').exists():
        raise RuntimeError('stopped')
    (context.output_dir / 'value.txt').write_text(f'{input.value}')
    below = max(0, input.value - context.params.step)
    return Success(output=Count(value=below), state=State(visits=state.visits + 1))
"""

EDGE = """
from verdog_runtime.declarations import (
    EdgeDefinition, NumericalConditionObservation, NumericalEffectObservation, NumericalFeatureCondition,
    NumericalFeatureEffect)
COUNTER_IS, COUNTER_HAS = NumericalConditionObservation, NumericalEffectObservation
from ... import EDGE_IDS, FEATURE_IDS, NODE_IDS
{visit}
EDGE = EdgeDefinition(
    id=EDGE_IDS.{source}__{target}, source=NODE_IDS.{source}, target=NODE_IDS.{target}, name='',
    conditions=({condition}), effects=({effect}), visit={value})
"""

WORKFLOW = """
from dataclasses import dataclass
from functools import cache
from verdog_runtime.declarations import (
    ParameterType, SubroutineCall, WorkflowConfiguration, WorkflowDefinition)
from verdog_runtime.declarations.ids import GraphId
from demo.countdown.subroutines.main import StateScope
from demo.countdown.subroutines.main.impl import Count, Params
PARAMS_TYPES: dict[tuple[str, GraphId], ParameterType] = {('.', GraphId('demo.countdown.main')): Params}
@dataclass(frozen=True, kw_only=True)
class RuntimeOptions:
    quiet: bool = False
CONFIGURATION = WorkflowConfiguration(profile_arguments={})
def configure(options: RuntimeOptions, /) -> WorkflowConfiguration:
    return CONFIGURATION
GRAPH_ID = GraphId('demo.countdown.main')
ENTRY = SubroutineCall(
    definition_id=GraphId('demo.countdown.main'), definition_module='demo.countdown.subroutines.main',
    params_types=PARAMS_TYPES, profile_arguments={}, session_arguments={}, project_path='.')
@cache
def definition() -> WorkflowDefinition[Count, Count, Params, StateScope]:
    return WorkflowDefinition(
        id=GRAPH_ID, input_type=Count, entry=ENTRY, sessions=(), configuration=CONFIGURATION)
"""

OWN_TEST = """
from dataclasses import replace
from pathlib import Path
from demo.countdown.subroutines.main.impl import Count
from demo.countdown.workflows.main import definition
from verdog_runtime.declarations import WorkflowConfiguration
from verdog_runtime.interpreter import Dispatcher

def test_it_counts_to_zero(tmp_path: Path) -> None:
    workflow = replace(definition(), configuration=WorkflowConfiguration())
    dispatcher = Dispatcher(project_root=Path(__file__).parents[1])
    assert dispatcher.run(workflow, Count(value=2), output_dir=tmp_path).output == Count(value=0)
    assert sorted(path.name for path in (tmp_path / 'decrement').iterdir()) == ['000001', '000002', '000003']
    assert not list(tmp_path.rglob('.verdog'))
"""


PORT = """
from verdog_runtime.declarations import PortDefinition
from ... import NODE_IDS
PORT = PortDefinition(id=NODE_IDS.{name})
"""

CONDITION = "NumericalFeatureCondition(feature_id=FEATURE_IDS.counter, observation=COUNTER_IS.{}),"
EFFECT = "NumericalFeatureEffect(feature_id=FEATURE_IDS.counter, observation=COUNTER_HAS.{}),"

EDGES = (
    ("enter", "set_counter", "", ""),
    ("set_counter", "decrement", "", EFFECT.format("UNCONSTRAINED")),
    ("decrement", "update_counter", CONDITION.format("GREATER_ZERO"), ""),
    ("update_counter", "decrement", "", EFFECT.format("DECREASES")),
    ("decrement", "exit", CONDITION.format("EQUAL_ZERO"), ""),
)

PROJECT = '{"schema_version": 33, "package": "demo.countdown", "generated_from": "0123456789abcdef"}'

SETTINGS = """
[project]
name = "demo.countdown"
version = "0"
[tool.pytest.ini_options]
pythonpath = ["src"]
"""


def write_generated_project(root: Path) -> None:
    """Write the project: namespace packages where the generator leaves `__init__.py` out."""
    files = {
        "project.json": PROJECT,
        "pyproject.toml": SETTINGS,
        f"{PACKAGE}/__init__.py": "# verdog-generated-abi: 5\n",
        f"{MAIN}/__init__.py": SUBROUTINE,
        f"{MAIN}/impl.py": TYPES,
        f"{MAIN}/features/counter/__init__.py": FEATURE,
        f"{MAIN}/nodes/decrement/__init__.py": PYTHON_NODE,
        f"{MAIN}/nodes/decrement/impl.py": STATE,
        f"{PACKAGE}/workflows/main/__init__.py": WORKFLOW,
        f"{PACKAGE}/workflows/main/requirements.txt": "# none\n",
        "tests/test_main.py": OWN_TEST,
    }
    for name in ("enter", "exit", "failure"):
        files[f"{MAIN}/nodes/{name}/__init__.py"] = PORT.format(name=name)
    for name in ("set_counter", "update_counter"):
        files[f"{MAIN}/nodes/{name}/__init__.py"] = FEATURE_NODE.format(name=name)
    for source, target, condition, effect in EDGES:
        files.update(_edge(source, target, condition, effect))
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"))


def _edge(source: str, target: str, condition: str, effect: str) -> dict[str, str]:
    edge = f"{source}__{target}"
    place = f"{MAIN}/nodes/{target}/visit/{edge}"
    visit, value, files = "", "None", {}
    if target != "exit":
        visit, value = f"from ...nodes.{target}.visit.{edge} import VISIT", "VISIT"
        is_python = target == "decrement"
        files[f"{place}/__init__.py"] = PYTHON_VISIT if is_python else FEATURE_VISIT
        files[f"{place}/impl.py"] = DECREMENT if is_python else COUNTING
    files[f"{MAIN}/edges/{edge}/__init__.py"] = EDGE.format(
        visit=visit, source=source, target=target, condition=condition, effect=effect, value=value
    )
    return files
