"""Resumption: wherever a run is stopped, however often, it ends like one that was never disturbed."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runtime.graphs import LEFT, WORK, Count, loop_graph, workflow
from tests.runtime.recorded import Stop, artifacts_of, header_of, last, read_tree, resume, run, summaries
from verdog_runtime.declarations import FeatureSuccess, Success, VisitDefinition
from verdog_runtime.interpreter import Dispatcher

TURNS = 2
VISITS = TURNS + 1


class Body:
    """Counts in its state, writes what it saw, and is stopped in the attempts that it is told to."""

    def __init__(self, stops: dict[int, tuple[str, type[BaseException]]]) -> None:
        self.stops = stops
        self.attempts = 0

    def __call__(self, value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        self.attempts += 1
        when, error = self.stops.get(self.attempts, ("", ValueError))
        if when == "before":
            raise error
        text = f"{value} {state.n} {context.params.step}\n"
        (context.output_dir / "out.txt").write_text(text)
        (context.output_dir / "sub").mkdir()
        if when == "after":
            raise error
        return Success(output=[*value, text], state=Count(n=state.n + 1))


@contextmanager
def make_project() -> Iterator[Path]:
    """A project of its own for each example; the import path is put back behind it."""
    path = list(sys.path)
    with tempfile.TemporaryDirectory() as place:
        yield Path(place)
    sys.path[:] = path


@lru_cache(maxsize=1)
def run_undisturbed() -> tuple[Any, dict[str, Any]]:
    """Return the result of a run that nobody stops, and what counts of its record."""
    with make_project() as project:
        result = run(project, make(Body({})), [])
        return result, final(project)


def begin(value: Any, state: Any, context: Any, /) -> Any:
    return FeatureSuccess(state=state.replace(LEFT, TURNS))


def make(body: Body) -> Any:
    loop = loop_graph(body)
    first = VisitDefinition(implementation=begin)
    return workflow(
        replace(
            loop, edges=tuple(replace(e, visit=first) if e.id == "enter__init" else e for e in loop.edges)
        )
    )


def final(project: Path) -> dict[str, Any]:
    """Return what counts in the end: the recorded files of the completed visits, in order, and the result."""
    entries = artifacts_of(project, last(project / "out").sequence)
    visits = [each.completed for each in summaries(project / "out") if each.completed]
    files = [
        (
            visit.node,
            sorted(
                (path.partition(place)[2], entry) for path, entry in entries.items() if path.startswith(place)
            ),
        )
        for visit in visits
        for place in (f"{visit.node}/{visit.visit:06}/".encode(),)
    ]
    return {"visits": files, "result": header_of(project).result}


STOPS = st.dictionaries(
    st.integers(1, VISITS + 3),
    st.tuples(st.sampled_from(["before", "after"]), st.sampled_from([ValueError, KeyboardInterrupt, Stop])),
    max_size=4,
)


@settings(max_examples=8)
@given(stops=STOPS, deleted=st.booleans())
def test_a_run_ends_the_same_wherever_its_visits_were_stopped(stops: Any, deleted: bool) -> None:
    with make_project() as project:
        undisturbed, expected = run_undisturbed()
        body = Body(stops)
        definition = make(body)
        result = attempt(project, lambda: run(project, definition, []))
        while result is None:
            if deleted:
                shutil.rmtree(project / "out")
            result = attempt(project, lambda: resume(project, definition))
        assert result.output == undisturbed.output
        assert result.state.get(WORK) == undisturbed.state.get(WORK)
        assert result.state.get(LEFT) == undisturbed.state.get(LEFT)
        assert body.attempts == VISITS + sum(number <= body.attempts for number in stops)
        assert final(project) == expected
        recorded = artifacts_of(project, last(project / "out").sequence)
        on_disk = read_tree(project / "out")
        assert all(path in on_disk for path in recorded)
        assert all(each.restore_available for each in summaries(project / "out"))


def attempt(project: Path, action: Any) -> Any:
    try:
        return action()
    except (ValueError, KeyboardInterrupt, Stop):
        return None


@settings(max_examples=8)
@given(number=st.integers(0, 30), error=st.sampled_from([KeyboardInterrupt, Stop]))
def test_a_run_ends_the_same_whichever_event_stopped_it(number: int, error: type[BaseException]) -> None:
    with make_project() as project:
        undisturbed, expected = run_undisturbed()
        count = 0

        def handle(event: Any) -> None:
            nonlocal count
            count += 1
            if count == number:
                raise error

        definition = make(Body({}))
        dispatcher = Dispatcher(project_root=project, execution_handler=handle)
        try:
            result = dispatcher.run(definition, [], output_dir=project / "out", checkpointing="auto")  # type: ignore[arg-type]
        except error:
            if not summaries(project / "out"):
                return  # stopped before the first transition: there is nothing to resume
            result = resume(project, definition)
        assert result.output == undisturbed.output
        assert final(project) == expected
