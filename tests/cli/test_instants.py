"""Instants for programs are in UTC with `Z`, wherever the machine is; only people are told local time."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.workflows import FAILS_ONCE, countdown
from tests.commandline import Verdog


@pytest.fixture
def far_east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose clock shows 14 hours more than UTC."""
    with monkeypatch.context() as zone:
        zone.setenv("TZ", "Pacific/Kiritimati")
        time.tzset()
        yield
    time.tzset()


def iter_instants(document: object) -> Iterator[str]:
    if isinstance(document, dict):
        for name, value in document.items():
            if name.endswith("_at") and value is not None:
                yield value
            yield from iter_instants(value)
    elif isinstance(document, list):
        for value in document:
            yield from iter_instants(value)


COMMANDS = (
    ("runs", "--json"),
    ("log", "first", "--json"),
    ("show", "first", "--json"),
    ("checkpoints", "first", "--json"),
    ("diff", "first@2", "first", "--json"),
    ("ls", "first", "--json"),
)


@pytest.mark.usefixtures("far_east")
def test_every_instant_for_programs_is_in_utc(verdog: Verdog, project: Path) -> None:
    before = datetime.now(UTC)
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    assert verdog("run", "flow.py", "--run-id", "first", "--output-dir", "out").code == 1
    documents = [json.loads((project / "out/.verdog/run.json").read_text())]
    index = (project / "out/.verdog/checkpoints/index.jsonl").read_text().splitlines()
    documents += [[json.loads(line) for line in index]]
    documents += [json.loads(verdog(*command).out) for command in COMMANDS]
    after = datetime.now(UTC)
    for document in documents:
        found = list(iter_instants(document))
        assert found
        assert all(each.endswith("Z") for each in found)
        assert all(before <= datetime.fromisoformat(each) <= after for each in found)


@pytest.mark.usefixtures("far_east")
def test_the_trace_is_in_local_time(verdog: Verdog, project: Path) -> None:
    (project / "flow.py").write_text(countdown())
    before = datetime.now().replace(microsecond=0)
    assert verdog("run", "flow.py", "--output-dir", "out").code == 0
    stamp = (project / "out/trace.log").read_text()[1:20]
    assert before <= datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S") <= datetime.now()
