"""The page of guarantees: each test it names exists, each requirement is promised or waits for something."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/guarantees.md").read_text(encoding="utf-8")
PROMISED, _, LATER = PAGE.partition("\n## Later\n")

REQUIREMENTS = {f"S1-{number:03}" for number in range(1, 186)} | {
    f"S2-{number:03}" for number in range(1, 52)
}

CASES = {*range(1, 17), 18, 21, 23, 25, 28}
"""Of the project's list of hard cases, those that need neither remotes nor agents nor calls."""

LATER_FOR_WANT_OF = ("agents", "calls", "an editor")


def listed(text: str) -> list[str]:
    """Return the numbers in a text, ranges spelled out."""
    found: list[str] = []
    for kind, first, last in re.findall(r"(S[12])-(\d{3})(?:`?\s+to\s+`?\1-(\d{3}))?", text):
        found += [f"{kind}-{number:03}" for number in range(int(first), int(last or first) + 1)]
    return found


@cache
def names_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_test_that_is_named_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 100
    gone = [
        f"{path}::{name}" for path, name in named if not (ROOT / path).is_file() or name not in names_in(path)
    ]
    assert not gone


def test_every_promise_names_a_test() -> None:
    promises = re.split(r"\n(?=- \*\*)", PROMISED)[1:]
    assert len(promises) > 50
    assert not [each for each in promises if "\n  - `tests/" not in each]


def test_every_hard_case_names_a_test() -> None:
    cases = re.findall(r"\n- Case (\d+)[:,] .+\n(?:  \S.+\n)?  - `tests/", PROMISED)
    assert {int(each) for each in cases} == CASES


def test_every_requirement_is_promised_or_waits() -> None:
    promised, later = listed(PROMISED.partition("\n## ")[2]), listed(LATER)
    assert set(promised) | set(later) == REQUIREMENTS
    assert not set(promised) & set(later)
    assert len(later) == len(set(later))


def test_what_waits_says_what_for() -> None:
    rows = [line for line in LATER.splitlines() if line.startswith("| S")]
    assert rows
    assert not [row for row in rows if not row.split(" | ")[1].startswith(LATER_FOR_WANT_OF)]
