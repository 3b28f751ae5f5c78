"""Mistakes in a workflow file are refused with the file and the line that was written."""

from pathlib import Path

import pytest

from verdog_objects.errors import InvalidInput
from verdog_runtime.authoring import AuthoringError
from verdog_runtime.sources import load_workflow

PREAMBLE = """\
from dataclasses import dataclass, field
from typing import ClassVar
from verdog_runtime.authoring import Context, FeatureState, Subroutine, Success, Workflow

@dataclass(frozen=True)
class Count:
    value: int = 10

@dataclass(frozen=True)
class Steps:
    taken: int = 0

flow = Workflow("countdown", input=Count, output=Count)
left = flow.integer("left")
mood = flow.enum("mood", "calm", "tense")
start = flow.feature_node("start", carries=Count)
work = flow.python_node("work", output=Count, state=Steps)
helper = Subroutine("helper", input=Count, output=Count)
foreign = helper.integer("foreign")
look = helper.python_node("look", output=Count)

def visit(value, state, context):
    return Success(output=value, state=state)

"""

MISTAKES = {
    "a state field without a default": (
        """
@dataclass(frozen=True)
class Bad:
    taken: int
flow.python_node("more", output=Count, state=Bad)  # here
""",
        "must give field 'taken' a default",
    ),
    "a state class that can be changed": (
        """
@dataclass
class Bad:
    taken: int = 0
flow.python_node("more", output=Count, state=Bad)  # here
""",
        "must be frozen",
    ),
    "a state class that is no dataclass": (
        """
flow.python_node("more", output=Count, state=int)  # here
""",
        "must be a dataclass",
    ),
    "a mutable default": (
        """
@dataclass(frozen=True)
class Bad:
    items: list = field(default_factory=list)
flow.python_node("more", output=Count, state=Bad)  # here
""",
        "a plain default, not a factory",
    ),
    "slots for more than the fields": (
        """
class Bad:
    __slots__ = ("taken", "other")
    __annotations__ = {}
Bad = dataclass(frozen=True)(Bad)
flow.python_node("more", output=Count, state=Bad)  # here
""",
        "must have slots for exactly its fields",
    ),
    "a node that is declared twice": (
        """
flow.python_node("work", output=Count)  # here
""",
        "node 'work' is declared twice, first in line 17",
    ),
    "a node that is called like a port": (
        """
flow.python_node("exit", output=Count)  # here
""",
        "two nodes or ports have the id 'exit'",
    ),
    "a feature that is declared twice": (
        """
flow.boolean("left")  # here
""",
        "feature 'left' is declared twice, first in line 14",
    ),
    "a name that is no id": (
        """
flow.python_node("count-down", output=Count)  # here
""",
        "'count-down' cannot name a node",
    ),
    "a workflow name that is no id": (
        """
Workflow("Count Down", input=Count, output=Count)  # here
""",
        "'Count Down' cannot name a workflow",
    ),
    "an enum without values": (
        """
flow.enum("nothing")  # here
""",
        "nothing",
    ),
    "an unknown feature in a condition": (
        """
work.on(start, when=[foreign.zero])(visit)  # here
""",
        "names feature 'foreign', which the graph does not have",
    ),
    "an unknown feature in an effect": (
        """
@work.on(start, effects=[foreign.decreases])  # here
def more(value, state, context): ...
""",
        "names feature 'foreign', which the graph does not have",
    ),
    "an unknown word of an enum": (
        """
flow.exit.on(work, when=[mood.equals("angry")])  # here
""",
        "names 'angry', which feature 'mood' cannot be",
    ),
    "two conditions on one feature": (
        """
flow.exit.on(work, when=[left.zero, left.positive])  # here
""",
        "has two conditions on feature 'left'",
    ),
    "an effect where a condition belongs": (
        """
flow.exit.on(work, when=[left.decreases])  # here
""",
        "NumericalFeatureEffect where only",
    ),
    "an effect of a node that cannot have one": (
        """
flow.exit.on(work, effects=[left.decreases])  # here
""",
        "is no feature node",
    ),
    "one condition instead of a list": (
        """
flow.exit.on(work, when=left.zero)  # here
""",
        "when takes a list",
    ),
    "one edge twice": (
        """
work.on(start)(visit)
work.on(start)(visit)  # here
""",
        "the edge from 'start' to 'work' is declared twice, first in line 25",
    ),
    "two visits for one edge": (
        """
edge = work.on(start)
edge(visit)
edge(visit)  # here
""",
        "has two visits",
    ),
    "an edge without a visit": (
        """
start.on(flow.enter)(visit)
work.on(start)  # here
flow.exit.on(work)
""",
        "the edge 'start__work' has no visit",
    ),
    "a visit that is no function": (
        """
work.on(start)(7)  # here
""",
        "is not callable",
    ),
    "a node of another graph": (
        """
work.on(look)(visit)  # here
""",
        "cannot leave 'look', which is a node of 'helper'",
    ),
    "an edge that leaves no node": (
        """
work.on(flow.exit)(visit)  # here
""",
        "must leave a node or the enter port",
    ),
    "a graph that nothing enters": (
        """
flow.exit.on(work)
""",
        "no edge leaves the enter port",
    ),
    "a profile of another graph": (
        """
talk = flow.session("talk", persistent=True)
flow.agent_node("ask", output=Count, profile=helper.profile("writer"), session=talk)  # here
""",
        "profile 'writer' belongs to 'helper'",
    ),
    "a default invoker that is none": (
        """
flow.profile("writer", default=print)  # here
""",
        "must be callable and have a session_provider",
    ),
    "a slot that nothing fills": (
        """
helper.profile("writer")
look.on(helper.enter)(visit)
call = flow.call_node("call", helper, output=Count)  # here
call.on(flow.enter)(visit)
flow.exit.on(call)
""",
        "nothing fills profile 'writer' of 'helper'",
    ),
    "a mistake in what is called": (
        """
call = flow.call_node("call", helper, output=Count)
call.on(flow.enter)(visit)
look.on(helper.enter)  # here
flow.exit.on(call)
""",
        "the edge 'enter__look' has no visit",
    ),
    "two callees of one name": (
        """
again = Subroutine("helper", input=Count, output=Count)  # here
call = flow.call_node("call", helper, output=Count)
more = flow.call_node("more", again, output=Count)
call.on(flow.enter)(visit)
more.on(call)(visit)
look.on(helper.enter)(visit)
again.exit.on(again.enter)
""",
        "'helper' is also the name of what is made in",
    ),
    "a dead end": (
        """
start.on(flow.enter)(visit)
work.on(start)(visit)  # here
""",
        "no edge leaves 'work', so a run that comes here could not go on",
    ),
    "a node that no edge leads to": (
        """
more = flow.python_node("more", output=Count)
start.on(flow.enter)(visit)
work.on(start)(visit)  # here
flow.exit.on(more)
""",
        "could not go on; and no edge leads to 'more'",
    ),
    "an addition after definition()": (
        """
flow.exit.on(flow.enter)
flow.definition()
flow.integer("late")  # here
""",
        "is already defined",
    ),
}


@pytest.mark.parametrize("title", MISTAKES)
def test_a_mistake_is_refused_at_its_line(title: str, tmp_path: Path) -> None:
    code, reason = MISTAKES[title]
    text = PREAMBLE + code.lstrip("\n")
    file = tmp_path / "wrong.py"
    file.write_text(text)
    marked = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# here")]
    line = marked[0] if marked else 13
    with pytest.raises(InvalidInput) as caught:
        load_workflow("wrong.py", cwd=tmp_path)
    assert isinstance(caught.value, AuthoringError)
    assert str(caught.value).startswith(f"wrong.py:{line}: ")
    assert reason in str(caught.value)
    assert (caught.value.path, caught.value.line) == (str(file), line)


def test_a_mistake_in_a_file_below_the_project_is_named_by_its_path_in_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows/wrong.py").write_text(PREAMBLE + "flow.boolean('left')\n")
    with pytest.raises(AuthoringError, match=r"^flows/wrong\.py:25: "):
        load_workflow("wrong.py", cwd=tmp_path / "flows")


def test_a_mistake_in_a_sibling_is_named_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mistaken_sibling.py").write_text(PREAMBLE + "flow.boolean('left')\n")
    (tmp_path / "right.py").write_text("import mistaken_sibling\n")
    with pytest.raises(AuthoringError, match=r"^mistaken_sibling\.py:25: "):
        load_workflow("right.py", cwd=tmp_path)
