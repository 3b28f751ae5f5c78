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
    parent = click.Context(verdog, info_name="verdog", obj=Context(), terminal_width=80, max_content_width=80)
    if not path:
        return verdog.get_help(parent) + "\n"
    command = verdog.get_command(parent, path[0])
    assert command is not None
    return command.get_help(click.Context(command, info_name=path[0], parent=parent)) + "\n"


def render_help_module() -> str:
    text = render_help()
    assert '"""' not in text and "\\" not in text
    first = '"""The text of `verdog --help`. Generated: `python -m tests.docs.generate`."""'
    return f'{first}\n\nTEXT = """\\\n{text}"""\n'


def render_reference() -> str:
    parts = [INTRODUCTION.read_text(encoding="utf-8")]
    parts += [f"## verdog {name}\n\n```text\n{render_help(name)}```\n" for name in COMMANDS]
    return "\n".join(parts)


if __name__ == "__main__":
    HELP_MODULE.write_text(render_help_module(), encoding="utf-8")
    REFERENCE.parent.mkdir(parents=True, exist_ok=True)
    REFERENCE.write_text(render_reference(), encoding="utf-8")
