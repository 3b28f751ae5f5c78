import json

import pytest

from tests.cli.store import HandMade
from tests.commandline import Verdog
from verdog_repo.repository import Repository


@pytest.fixture
def run(repository: Repository) -> HandMade:
    made = HandMade(repository, "first")
    made.checkpoint()
    made.checkpoint()
    return made


def test_a_tag_names_a_checkpoint(verdog: Verdog, run: HandMade) -> None:
    assert verdog("tag", "before", "first@1").out == "before is first@1\n"
    assert "checkpoint first@1" in verdog("show", "before").out
    assert verdog("tag").out.splitlines()[1].split()[:2] == ["before", "first@1"]
    assert json.loads(verdog("tag", "--json").out)["tags"][0]["checkpoint"] == 1
    assert verdog("tag", "-d", "before").code == 0
    assert verdog("tag").out == ""
    assert verdog("show", "before").code == 2


def test_a_label_names_a_run(verdog: Verdog, run: HandMade) -> None:
    assert verdog("label", "first", "baseline").out == "baseline is first\n"
    assert "first@2" in verdog("log", "baseline", "--oneline").out
    assert verdog("label").out.splitlines()[1].split() == ["baseline", "first"]
    assert json.loads(verdog("label", "--json").out)["labels"] == [{"label": "baseline", "run": "first"}]
    assert verdog("label", "-d", "baseline").code == 0
    assert verdog("label").out == ""


@pytest.mark.parametrize("name", ["@", "a..b", "a.lock", "x y", "", "HEAD", "first"])
def test_a_name_that_could_mean_something_else_is_refused(verdog: Verdog, run: HandMade, name: str) -> None:
    assert verdog("tag", name, "first@1").code == 2
    assert verdog("label", "first", name).code == 2


def test_a_name_is_never_taken_for_an_option(verdog: Verdog, run: HandMade) -> None:
    assert verdog("tag", "--", "-d", "first@1").code == 2
    assert verdog("label", "--", "first", "-d").code == 2


def test_half_a_mark_is_refused(verdog: Verdog, run: HandMade) -> None:
    assert verdog("tag", "before").code == 2
    assert verdog("tag", "-d", "before", "first@1").code == 2
    assert verdog("label", "first").code == 2
    assert verdog("tag", "-d", "nothing").code == 2
