"""Every command is documented, and every `--help` is what it was."""

import click
import pytest

from tests.docs.generate import REFERENCE, command_paths, find_command, render_help, render_reference
from verdog_cli.help_text import TEXT

AGAIN = "run: python -m tests.docs.generate"


def test_the_ready_made_help_is_the_help_of_the_group() -> None:
    assert render_help() == TEXT, AGAIN


def test_the_reference_is_up_to_date() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == render_reference(), AGAIN


@pytest.mark.parametrize("path", command_paths(), ids=" ".join)
def test_a_command_explains_itself_in_80_columns(path: tuple[str, ...]) -> None:
    text = render_help(*path)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert len(text.split("\n\n")) >= 2


@pytest.mark.parametrize("path", command_paths(), ids=" ".join)
def test_every_option_of_a_command_says_what_it_does(path: tuple[str, ...]) -> None:
    params = find_command(*path).params
    options = [each for each in params if isinstance(each, click.Option) and not each.hidden]
    assert not [each.name for each in options if not each.help]
