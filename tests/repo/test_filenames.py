"""Paths of this system as the text that the store keeps."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from verdog_repo.filenames import format_filename, locate_directory, parse_filename

IN_C = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize("text", ["", "plain", "größe", "a\udcff", "\ud800", "日本"])
def test_in_a_utf_8_locale_both_forms_are_the_same(text: str) -> None:
    assert format_filename(text) == text
    assert parse_filename(text) == text


def test_in_the_c_locale_stored_text_names_the_same_file() -> None:
    script = (
        "import os, sys; from verdog_repo.filenames import format_filename, parse_filename; "
        "text = bytes.fromhex(sys.argv[1]).decode('utf-8', 'surrogateescape'); "
        "print(os.fsencode(parse_filename(text)).hex(), format_filename(parse_filename(text)) == text)"
    )
    name = "größe\udcff".encode("utf-8", "surrogateescape").hex()
    done = subprocess.run(
        [sys.executable, "-c", script, name], env=IN_C, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == [name, "True"]


def test_a_directory_is_below_its_project_or_where_it_says() -> None:
    assert locate_directory(Path("/project"), "a/../b") == Path("/project/b")
    assert locate_directory(Path("/project"), "/elsewhere") == Path("/elsewhere")
