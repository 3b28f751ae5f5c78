"""The addresses of stored parameters against those that a workflow declares now."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import Params, loop_graph, workflow
from tests.runtime.recorded import fail_in, fork, refused, resume, run

OTHER = (".", "toy.loop.other")


def declaring(*addresses: tuple[str, str]) -> Any:
    definition = workflow(loop_graph(fail_in(2)))
    return replace(definition, entry=replace(definition.entry, params_types=dict.fromkeys(addresses, Params)))


MAIN = (".", "toy.loop.main")


@pytest.mark.parametrize(
    ("before", "now", "sentence"),
    [
        ((MAIN,), (MAIN, OTHER), "without toy.loop.other"),
        ((MAIN, OTHER), (MAIN,), "with unknown toy.loop.other"),
        ((MAIN, OTHER), (MAIN, ("libs/a", "toy.loop.other")), "toy.loop.other in libs/a"),
    ],
)
def test_other_addresses_of_parameters_are_refused(
    project: Path, before: Any, now: Any, sentence: str
) -> None:
    with pytest.raises(ValueError, match="boom"):
        run(project, declaring(*before), 2)
    error = refused(project, declaring(*now), ValueError)
    assert "stored params do not fit" in str(error)
    assert sentence in str(error)
    with pytest.raises(ValueError, match="stored params do not fit"):
        fork(project, declaring(*now), 2)
    assert not (project / "forked").exists()


def test_an_address_may_be_spelled_in_another_way(project: Path) -> None:
    with pytest.raises(ValueError, match="boom"):
        run(project, declaring(MAIN), 2)
    with pytest.raises(ValueError, match="boom"):
        resume(project, declaring(("./", "toy.loop.main")))
