"""Every command is documented, and every `--help` is what it was."""

import pytest

from tests.docs.generate import REFERENCE, render_help, render_reference
from verdog_cli.group import COMMANDS
from verdog_cli.help_text import TEXT

AGAIN = "run: python -m tests.docs.generate"


def test_the_ready_made_help_is_the_help_of_the_group() -> None:
    assert render_help() == TEXT, AGAIN


def test_the_reference_is_up_to_date() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == render_reference(), AGAIN


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_explains_itself_in_80_columns(name: str) -> None:
    text = render_help(name)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert len(text.split("\n\n")) >= 2


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_says_what_it_does(name: str) -> None:
    import importlib

    import click

    command = importlib.import_module(f"verdog_cli.commands.{name}").command
    options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    assert not [each.name for each in options if not each.help]
