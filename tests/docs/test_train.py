"""The page on training a model, done by a machine with the example that it is about."""

import importlib.util
import re
import shutil
from pathlib import Path

import pytest

from tests.docs.test_tutorial import Shell, commands, matches

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/howto/train.md").read_text(encoding="utf-8")

WAIT = """
sleep() { until ls -d .verdog/runs/digits/*/train/000010 >/dev/null 2>&1; do command sleep 0.05; done; }
"""
"""A sleep that lasts until the run is in its tenth epoch, as on the page, however fast this machine is."""


def hide_accuracies(lines: list[str]) -> list[str]:
    """Return lines without what another processor or version of scikit-learn may compute otherwise."""
    hidden = [re.sub(r"\b0\.\d{1,4}\b", "ACCURACY", line) for line in lines]
    return [re.sub(r"best_epoch(=|  )[\d >-]+", r"best_epoch\1N", line) for line in hidden]


def blocks() -> list[tuple[str, str, str]]:
    return re.findall(r"(?:<!-- edit: ([^>]+) -->\n)?```(\w+)\n(.*?)```\n", PAGE, re.DOTALL)


def test_the_example_of_the_page_is_in_the_tree() -> None:
    assert "docs/examples/digits.py" in PAGE
    assert (ROOT / "docs/examples/digits.py").is_file()
    assert "scikit-learn" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="needs the extra [examples]")
def test_a_reader_who_trains_the_model_sees_what_the_page_shows(tmp_path: Path) -> None:
    shutil.copy(ROOT / "docs/examples/digits.py", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    shell = Shell(tmp_path)
    shell.run(WAIT)
    try:
        for edit, language, text in blocks():
            if edit:
                name, _, before = edit.partition(": ")
                source = (tmp_path / name).read_text(encoding="utf-8")
                assert source.count(before) == 1
                (tmp_path / name).write_text(source.replace(before, text.strip()), encoding="utf-8")
            for command, expected in commands(text) if language == "console" else ():
                printed = shell.run(command)
                same = matches(hide_accuracies(expected), hide_accuracies(printed))
                assert same, "\n".join([f"$ {command}", *printed])
    finally:
        shell.close()
