"""What pyright infers and refuses when somebody writes a workflow."""

import json
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

pytest.importorskip("pyright")
pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "typing"
ROOT = Path(__file__).parents[2]
GOOD = [*sorted(HERE.glob("good_*.py")), ROOT / "docs/examples/countdown.py"]
BAD = sorted(HERE.glob("bad_*.py"))


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, str]]:
    """The errors of every file by line, from one run of pyright on copies (it takes no absolute paths)."""
    directory = tmp_path_factory.mktemp("pyright")
    for path in (*GOOD, *BAD):
        shutil.copy(path, directory)
    configuration = {
        "extraPaths": [str(ROOT / path) for path in ("objects", "runtime", "cli", ".")],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
    }
    (directory / "pyrightconfig.json").write_text(json.dumps(configuration))
    options = ["--outputjson", "--pythonpath", sys.executable, "-p", str(directory)]
    command = [sys.executable, "-m", "pyright", *options]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    document = json.loads(found.stdout)
    assert document["summary"]["filesAnalyzed"] == len(GOOD) + len(BAD)
    errors: dict[str, dict[int, str]] = defaultdict(dict)
    for entry in document["generalDiagnostics"]:
        errors[Path(entry["file"]).name][entry["range"]["start"]["line"] + 1] = entry["message"]
    return errors


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_correct_workflow_has_no_errors(path: Path, reported: dict[str, dict[int, str]]) -> None:
    assert reported.get(path.name, {}) == {}


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_each_mistake_is_an_error_on_its_own_line(path: Path, reported: dict[str, dict[int, str]]) -> None:
    lines = path.read_text().splitlines()
    marked = {number for number, line in enumerate(lines, 1) if line.endswith("# error")}
    assert set(reported[path.name]) == marked
