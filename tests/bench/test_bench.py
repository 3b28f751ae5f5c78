"""The benchmark runs; what it measures is for people to judge."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.__main__ import MEASURES

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_quick_benchmark_measures_every_row_and_cleans_up(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "--quick", "--json", "--directory", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["quick"] is True
    assert {row["name"] for row in document["rows"]} == set(MEASURES)
    assert all(row["ours"] > 0 for row in document["rows"])
    assert list(tmp_path.iterdir()) == []
