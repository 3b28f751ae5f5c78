"""The page on writing a workflow: its pieces are in the example, and its commands print what it shows."""

import re
import shutil
from pathlib import Path

import pytest

from tests.docs.test_tutorial import Shell, commands, matches

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/howto/write.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "docs/examples/sales.py"


def blocks() -> list[tuple[str, str, str]]:
    return re.findall(r"(?:<!-- ([^>]+) -->\n)?```(\w+)\n(.*?)```\n", PAGE, re.DOTALL)


def test_every_piece_of_code_is_in_the_example() -> None:
    pieces = [text for mark, language, text in blocks() if language == "python" and not mark]
    assert len(pieces) == 2
    assert not [piece for piece in pieces if piece not in EXAMPLE.read_text(encoding="utf-8")]


@pytest.mark.slow
def test_a_reader_who_follows_the_page_sees_what_it_shows(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE, tmp_path)
    (tmp_path / "pyproject.toml").touch()
    shell = Shell(tmp_path)
    try:
        for mark, language, text in blocks():
            kind, _, rest = mark.partition(": ")
            if kind == "setup":
                shell.run(text)
            elif kind == "edit":
                name, _, before = rest.partition(": ")
                source = (tmp_path / name).read_text(encoding="utf-8")
                assert source.count(before) == 1
                (tmp_path / name).write_text(source.replace(before, text.strip()), encoding="utf-8")
            for command, expected in commands(text) if language == "console" else ():
                printed = shell.run(command)
                assert matches(expected, printed), "\n".join([f"$ {command}", *printed])
    finally:
        shell.close()
