"""The tutorial, read and done by a machine: files are written, commands run, outputs compared."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")

WAIT = """
sleep() { until ls -d .verdog/runs/descent/*/step/000005 >/dev/null 2>&1; do command sleep 0.05; done; }
"""
"""A sleep that lasts until the run is in its fifth step, as on the page, however fast this machine is."""


class Block(NamedTuple):
    """A fenced block: its language, what the comment before it says, and its text."""

    language: str
    mark: str
    text: str


def blocks() -> Iterator[Block]:
    pattern = r"(?:<!-- ([^>]+) -->\n)?```(\w+)\n(.*?)```\n"
    for found in re.finditer(pattern, PAGE, re.DOTALL):
        yield Block(found[2], found[1] or "", found[3])


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Return the commands of a console block with the lines that each prints."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def normalise(line: str) -> str:
    """Return a line without what differs from one run to the next: ids, times, and how far the run got."""
    line = re.sub(r"\b\d{8}T\d{6}Z-[0-9a-f]{8}\b", "DIRECTORY", line)
    line = re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "ID", line)
    line = re.sub(r"\b[0-9a-f]{8,40}\b", "ID", line)
    line = re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b", "WHEN", line)
    line = re.sub(r"\b\d+(\.\d+)? (ms|s|min)\b", "TIME", line)
    line = re.sub(r"/0000\d\d\b", "/NUMBER", line)
    line = re.sub(r"^(first  interrupted) +\d+ ", r"\1 AT ", line)
    line = re.sub(r"^succeeded: \d+ more", "succeeded: N more", line)
    return re.sub(r"  +", "  ", line).rstrip()


def matches(expected: list[str], printed: list[str]) -> bool:
    """Whether the lines are those expected; `...` stands for any number of lines."""
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line == "..." else re.escape(f"{normalise(line)}\n") for line in expected
    )
    return re.fullmatch(pattern, "".join(f"{normalise(line)}\n" for line in printed)) is not None


class Shell:
    """One bash that executes a command at a time."""

    END = "the-end-of-the-command"

    def __init__(self, directory: Path) -> None:
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "HOME": str(directory),
        }
        self._errors = directory / "stderr"
        self._bash = subprocess.Popen(
            ["bash", "--norc"],
            cwd=directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, command: str) -> list[str]:
        """Execute a command; return what it printed, standard error last."""
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        redirected = command if command.endswith("&") else f"{{ {command}\n}} 2>{self._errors}"
        self._bash.stdin.write(f"{redirected}\necho; echo {self.END}\n")
        self._bash.stdin.flush()
        lines: list[str] = []
        for line in self._bash.stdout:
            if line.rstrip("\n") == self.END:
                break
            lines.append(line)
        printed = "".join(lines).removesuffix("\n").splitlines()
        errors = self._errors.read_text().splitlines() if self._errors.exists() else []
        return [*printed, *(line for line in errors if not re.match("bash: .* Killed ", line))]

    def close(self) -> None:
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        self._bash.stdin.close()
        self._bash.wait(60)
        self._bash.stdout.close()


def test_every_block_is_known_to_this_test() -> None:
    kinds = [(each.language, each.mark.partition(":")[0]) for each in blocks()]
    assert set(kinds) == {
        ("sh", ""),
        ("sh", "setup"),
        ("python", "file"),
        ("python", "edit"),
        ("console", ""),
    }
    assert kinds.count(("sh", "")) == 1


def test_links_lead_somewhere() -> None:
    assert not [link for link in re.findall(r"\]\(([^)#]+)\)", PAGE) if not (ROOT / "docs" / link).exists()]


def test_an_id_without_a_digit_is_an_id() -> None:
    assert normalise("+++ first@13  febedefc  add/000006") == normalise("+++ first@13  0564e8e3  add/000006")


@pytest.mark.slow
def test_a_reader_who_follows_it_sees_what_it_shows(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.run(WAIT)
    here = tmp_path / "descent"
    try:
        for block in blocks():
            kind, _, rest = block.mark.partition(": ")
            if kind == "setup":
                shell.run(block.text)
            elif kind == "file":
                (here / rest).write_text(block.text, encoding="utf-8")
            elif kind == "edit":
                name, _, before = rest.partition(": ")
                text = (here / name).read_text(encoding="utf-8")
                assert text.count(before) == 1
                (here / name).write_text(text.replace(before, block.text.strip()), encoding="utf-8")
            for command, expected in commands(block.text) if block.language == "console" else ():
                printed = shell.run(command)
                assert matches(expected, printed), "\n".join([f"$ {command}", *printed])
    finally:
        shell.close()
