"""Case 5 from the command line: what cannot be stored is named in one line, and nothing waits for it."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.workflows import countdown
from tests.commandline import Verdog
from tests.objects.trees import snapshot

MAKE = {
    "a FIFO": 'import os\nos.mkfifo(context.output_dir / "p\\n1")',
    "a socket": (
        "import os, socket\n"
        "here = socket.socket(socket.AF_UNIX)\n"
        'here.bind(os.path.relpath(context.output_dir / "p\\n1"))\n'
        "here.close()"
    ),
}
PATH = r"work/000001/p\n1"


@pytest.mark.parametrize("what", MAKE)
def test_a_special_file_is_named_and_everything_else_goes_on(
    verdog: Verdog, project: Path, what: str
) -> None:
    (project / "flow.py").write_text(countdown())
    assert verdog("run", "flow.py", "--run-id", "earlier", "--output-dir", "earlier").code == 0
    before = snapshot(project / "earlier/work")
    (project / "flow.py").write_text(countdown(MAKE[what]))
    result = verdog("run", "flow.py", "--run-id", "auto", "--", "--input.value", "0")
    assert result.code == 0
    warnings = [line for line in result.err.splitlines() if line.startswith("warning: checkpoint 3 ")]
    assert len(warnings) == 1
    sentence = f"{PATH} is {what}, which cannot be stored"
    assert sentence in result.err
    for command in ("checkpoints", "show"):
        assert sentence in " ".join(verdog(command, "auto").out.split())
    shown = json.loads(verdog("checkpoints", "auto", "--json").out)["checkpoints"]
    assert [each["restorable"] for each in shown] == [True, True, False]
    assert verdog("fork", "auto", "--sessions", "fresh").code == 1
    strict = verdog("run", "flow.py", "--run-id", "strict", "--checkpointing", "required")
    assert strict.code == 1
    assert PATH in strict.err
    assert "Traceback" not in strict.err
    assert verdog("fsck", "--read-data").code == 0
    assert verdog("checkout", "earlier", "copy").code == 0
    assert snapshot(project / "copy/work") == before
    shutil.rmtree(project / "copy")
