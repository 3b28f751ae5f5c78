"""Write what is generated from the command line's own help: `python -m tests.docs.generate`.

The same texts are compared by `test_commands.py`, so they are also the frozen `--help` of every command.
"""

from pathlib import Path

import click

from verdog_cli.context import Context
from verdog_cli.group import COMMANDS, verdog

ROOT = Path(__file__).parents[2]
HELP_MODULE = ROOT / "cli/verdog_cli/help_text.py"
REFERENCE = ROOT / "docs/reference/cli.md"
INTRODUCTION = ROOT / "tests/docs/cli_introduction.md"


def render_help(*path: str) -> str:
    """Return the `--help` of the group or of one command, 80 columns wide."""
    context = click.Context(
        verdog, info_name="verdog", obj=Context(), terminal_width=80, max_content_width=80
    )
    command = find_command(*path)
    here: click.Command = verdog
    for name in path:
        assert isinstance(here, click.Group)
        following = here.get_command(context, name)
        assert following is not None
        here = following
        context = click.Context(here, info_name=name, parent=context)
    return command.get_help(context) + "\n"


def find_command(*path: str) -> click.Command:
    """Return the group, one of its commands, or a command of a command."""
    here: click.Command = verdog
    for name in path:
        assert isinstance(here, click.Group)
        following = here.get_command(click.Context(here), name)
        assert following is not None
        here = following
    return here


def command_paths() -> list[tuple[str, ...]]:
    """Return the words that call each command, in the order of the documentation."""
    paths: list[tuple[str, ...]] = []
    for name in COMMANDS:
        paths.append((name,))
        command = find_command(name)
        if isinstance(command, click.Group):
            paths += [(name, below) for below in command.list_commands(click.Context(command))]
    return paths


def render_help_module() -> str:
    text = render_help()
    assert '"""' not in text and "\\" not in text
    first = '"""The text of `verdog --help`. Generated: `python -m tests.docs.generate`."""'
    return f'{first}\n\nTEXT = """\\\n{text}"""\n'


def render_reference() -> str:
    parts = [INTRODUCTION.read_text(encoding="utf-8")]
    parts += [f"## verdog {' '.join(path)}\n\n```text\n{render_help(*path)}```\n" for path in command_paths()]
    return "\n".join(parts)


if __name__ == "__main__":
    HELP_MODULE.write_text(render_help_module(), encoding="utf-8")
    REFERENCE.parent.mkdir(parents=True, exist_ok=True)
    REFERENCE.write_text(render_reference(), encoding="utf-8")
