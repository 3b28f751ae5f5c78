"""Where runs write, and that version control is kept away from it."""

import re
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.workflows import countdown
from tests.commandline import Verdog

ENDS_WITH_A_LOCK = """
import threading
from dataclasses import dataclass
from verdog_runtime.authoring import Context, Success, Workflow

@dataclass(frozen=True)
class Held:
    lock: object = None

flow = Workflow("held", input=None, output=Held)
hold = flow.python_node("hold", output=Held)

@hold.on(flow.enter)
def first(value: None, state: None, context: Context) -> Success[Held, None]:
    return Success(output=Held(threading.Lock()), state=None)

flow.exit.on(hold)
"""


def test_a_run_writes_below_its_workflow_into_a_directory_named_by_its_start(
    verdog: Verdog, project: Path
) -> None:
    (project / "flow.py").write_text(countdown())
    assert verdog("run", "flow.py").code == 0
    (output,) = (project / ".verdog/runs/countdown").iterdir()
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{8}", output.name)
    assert (project / ".verdog/.gitignore").read_text() == "*\n"


def test_the_start_in_the_name_of_a_directory_is_in_utc(
    verdog: Verdog, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "flow.py").write_text(countdown())
    try:
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv("TZ", "Pacific/Kiritimati")  # 14 hours ahead
            time.tzset()
            before = datetime.now(UTC).replace(microsecond=0)
            assert verdog("run", "flow.py").code == 0
    finally:
        time.tzset()
    (output,) = (project / ".verdog/runs/countdown").iterdir()
    started = datetime.strptime(output.name.partition("-")[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    assert before <= started <= datetime.now(UTC)


def test_a_listing_says_whether_conversations_can_go_on(verdog: Verdog, project: Path) -> None:
    (project / "good.py").write_text(countdown())
    (project / "poor.py").write_text(ENDS_WITH_A_LOCK)
    assert verdog("run", "good.py", "--run-id", "good").code == 0
    assert verdog("run", "poor.py", "--run-id", "poor").code == 0
    rows = {line.split()[0]: line.split()[3] for line in verdog("runs").out.splitlines()}
    assert rows == {"RUN": "SESSIONS", "good": "branch", "poor": "-"}
