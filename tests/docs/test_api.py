"""The page of Python interfaces against the packages, and its example against the interpreter."""

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")


def section(package: str) -> str:
    return PAGE.partition(f"\n## `{package}`\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(
    "package",
    ["verdog_runtime", *(f"verdog_runtime.{name}" for name in ("authoring", "interpreter", "runs"))],
)
def test_every_name_that_a_package_offers_is_on_the_page(package: str) -> None:
    offered: list[str] = importlib.import_module(package).__all__
    named = set(re.findall(r"`(\w+)", section(package)))
    assert not set(offered) - named


def test_names_of_declarations_exist() -> None:
    declarations = importlib.import_module("verdog_runtime.declarations")
    named = set(re.findall(r"`([A-Z]\w+)`", section("verdog_runtime.declarations")))
    assert named <= set(declarations.__all__)
    assert f"{len(declarations.__all__)} names" in section("verdog_runtime.declarations")


def test_the_example_runs(project: Path) -> None:
    found = re.search(r"<!-- run -->\n```python\n(.+?)```", PAGE, re.DOTALL)
    assert found
    shutil.copy(ROOT / "docs/examples/countdown.py", project)
    (project / "example.py").write_text(found[1])
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["Count(value=3)", "1 fork True"]
    assert done.stdout.splitlines()[-1].endswith("terminal True")
