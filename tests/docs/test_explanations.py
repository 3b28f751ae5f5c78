"""The explanations point at what shows them: modules and tests that exist, and links that lead somewhere."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXPLAINED = ("durability", "concurrency", "security")
PAGES = sorted((ROOT / "docs").rglob("*.md"))
UNPOINTED = {"What is trusted", "Not protected"}
"""Sections that say what is not defended."""


def named(text: str) -> list[tuple[str, str]]:
    """Return the files in backticks, each with the test that is named in it, or an empty text."""
    return re.findall(r"`((?:tests|objects|verdog_repo|runtime|cli)/[\w/]+\.py)(?:::(\w+))?`", text)


@cache
def functions_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("page", EXPLAINED)
def test_what_a_page_points_at_exists(page: str) -> None:
    pointers = named((ROOT / f"docs/explanation/{page}.md").read_text(encoding="utf-8"))
    assert pointers
    for path, test in pointers:
        assert (ROOT / path).is_file(), path
        assert not test or test in functions_in(path), test


@pytest.mark.parametrize("page", EXPLAINED)
def test_every_section_points_at_something(page: str) -> None:
    text = (ROOT / f"docs/explanation/{page}.md").read_text(encoding="utf-8")
    sections = {each.partition("\n")[0]: each for each in text.split("\n## ")[1:]}
    assert not {name for name, each in sections.items() if not named(each)} - UNPOINTED


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for link, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", page.read_text(encoding="utf-8")):
        target = page.parent / link if link else page
        assert target.exists(), link
        if anchor:
            titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def test_the_glossary_is_in_order() -> None:
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\*\*(.+?)\*\*: ", text, re.MULTILINE)
    assert len(words) > 30
    assert words == sorted(words)
