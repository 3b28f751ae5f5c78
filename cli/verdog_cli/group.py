"""The command group: names and one-line descriptions here, each command's module loaded when it is called."""

import importlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from verdog_cli.context import JSON, JSONL, Context
from verdog_cli.exits import Usage
from verdog_cli.palette import wants_colours

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Listed(NamedTuple):
    """A command as `verdog --help` shows it."""

    section: str
    summary: str


COMMANDS: dict[str, Listed] = {
    "demo": Listed("Running", "Make an example project, run it, kill a second run half way."),
    "run": Listed("Running", "Run a workflow and commit after every visit."),
    "resume": Listed("Running", "Go on with a run from its latest checkpoint."),
    "restart": Listed("Running", "Run a run's workflow again from the beginning."),
    "fork": Listed("Running", "Start a new run from any checkpoint."),
    "runs": Listed("Looking", "List the runs of this project."),
    "log": Listed("Looking", "List checkpoints, newest first."),
    "show": Listed("Looking", "Show a checkpoint: header, state, changed files."),
    "diff": Listed("Looking", "Compare two checkpoints: visits, state and files."),
    "checkpoints": Listed("Looking", "List what each checkpoint of a run can be used for."),
    "ls": Listed("Looking", "List the files of a checkpoint."),
    "cat": Listed("Looking", "Write a file of a checkpoint to standard output."),
    "status": Listed("Looking", "Compare a run's directory with its latest checkpoint."),
    "doctor": Listed("Looking", "Report on the project, its store and the machine below."),
    "checkout": Listed("Changing", "Write the files of a checkpoint into a new directory."),
    "restore": Listed("Changing", "Put recorded files back into a run's directory."),
    "tag": Listed("Changing", "Name a checkpoint."),
    "label": Listed("Changing", "Name a run."),
    "fsck": Listed("Changing", "Check everything that is stored."),
    "git": Listed("Elsewhere", "Export the history for Git's own tools."),
    "completion": Listed("Elsewhere", "Print the script that completes command lines."),
}


class LazyGroup(click.Group):
    """A group whose commands are the modules of `verdog_cli.commands`."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return `-h` and `--help`."""
        return ["-h", "--help"]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of `--help`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module and return its `command`."""
        if cmd_name not in COMMANDS:
            return None
        command: object = importlib.import_module(f"verdog_cli.commands.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and give it the arguments after `--` unless it reads them itself."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise _unknown(args[0], COMMANDS, ctx)
        name, command, rest = super().resolve_command(ctx, args)
        tail = ctx.ensure_object(Context).tail
        if tail is not None and not isinstance(command, TailCommand):
            rest = [*rest, "--", *tail]
        return name, command, rest

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[str]]":
        """Return the commands, of which none is imported, or the group's own options."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        found = [(name, listed.summary) for name, listed in COMMANDS.items() if name.startswith(incomplete)]
        return [CompletionItem(name, help=summary) for name, summary in found]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings."""
        for section in dict.fromkeys(listed.section for listed in COMMANDS.values()):
            with formatter.section(section):
                rows = [
                    (name, listed.summary) for name, listed in COMMANDS.items() if listed.section == section
                ]
                formatter.write_dl(rows, col_max=14)


def _take_traceback(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Context).traceback = True


def _take_colour(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    context = ctx.ensure_object(Context)
    context.colour = value or context.colour
    ctx.color = wants_colours(context.colour, os.environ, terminal=sys.stdout.isatty())


_WHEN = click.Choice(["auto", "always", "never"])

_ANYWHERE: tuple[click.Parameter, ...] = (
    click.Option(["--traceback"], is_flag=True, hidden=True, expose_value=False, callback=_take_traceback),
    click.Option(["--color"], type=_WHEN, hidden=True, expose_value=False, callback=_take_colour),
)
"""Options of `verdog` that may also stand behind the name of a command."""


class Command(click.Command):
    """A command of verdog: knows `-h`, takes some options of `verdog` itself; its epilog are examples."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return `-h` and `--help`."""
        return ["-h", "--help"]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own parameters, `--traceback` and `--color`."""
        return [*super().get_params(ctx), *_ANYWHERE]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the epilog as examples, line by line."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.strip().splitlines():
                    formatter.write(f"  {line.strip()}\n")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note whether JSON was asked for before anything can go wrong."""
        context = ctx.ensure_object(Context)
        context.operation = ctx.command_path.partition(" ")[2]
        context.error_form = next((form for form in (JSON, JSONL) if form in args), None)
        rest = super().parse_args(ctx, args)
        context.error_form = context.form if context.form in (JSON, JSONL) else None
        return rest


class CommandGroup(click.Group):
    """A command with commands of its own: `verdog git export`."""

    command_class = Command

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return `-h` and `--help`."""
        return ["-h", "--help"]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the group's own parameters, `--traceback` and `--color`."""
        return [*super().get_params(ctx), *_ANYWHERE]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insist on a command."""
        if not args and not ctx.resilient_parsing:
            raise Usage(f"{ctx.command_path} needs a command: {' or '.join(self.commands)}", ctx=ctx)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one was meant."""
        if args[0] not in self.commands and not args[0].startswith("-"):
            raise _unknown(args[0], self.commands, ctx)
        return super().resolve_command(ctx, args)


class TailCommand(Command):
    """A command that reads what follows `--` from its `Context`."""

    tail_name = "ARGS"

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Add what may follow `--`."""
        return [*super().collect_usage_pieces(ctx), f"[-- {self.tail_name}...]"]


class PathsCommand(TailCommand):
    """A command that reads paths after `--`."""

    tail_name = "PATH"


def _unknown(name: str, known: Iterable[str], ctx: click.Context) -> Usage:
    import difflib

    close = difflib.get_close_matches(name, list(known), n=2)
    hint = f"did you mean {' or '.join(close)}?" if close else f"{ctx.command_path} --help"
    return Usage(f"{name!r} is not a {ctx.command_path} command", hint=hint, ctx=ctx)


@click.group(
    cls=LazyGroup,
    epilog="""
    RUN is a run's id or the beginning of it, its label or its directory. REV is a checkpoint: RUN (its
    latest), RUN@17, RUN@survey#3 (after the third completed visit of survey), RUN~2, a tag or a commit.

    verdog COMMAND --help explains a command. Start with: verdog demo
    """,
)
@click.option("-C", "directory", metavar="DIR", help="Work as if started in DIR.")
@click.option(
    "--color",
    type=_WHEN,
    metavar="WHEN",
    expose_value=False,
    callback=_take_colour,
    help="Colours: auto (only on a terminal), always or never.",
)
@click.option("--no-pager", is_flag=True, help="Never send long output through a pager.")
@click.option("--traceback", is_flag=True, help="Show the traceback of an error, too.")
@click.version_option(package_name="verdog-repo", message="verdog %(version)s")
@click.pass_context
def verdog(ctx: click.Context, directory: str | None, no_pager: bool, traceback: bool) -> None:
    """Git for workflow runs: every visit of a node is a commit that can be seen, resumed and forked."""
    context = ctx.ensure_object(Context)
    context.traceback = context.traceback or traceback
    context.pager = not no_pager
    if directory is not None:
        _enter(directory, context)


def _enter(directory: str, context: Context) -> None:
    try:
        context.start, context.directory = Path.cwd(), directory
        os.chdir(directory)
    except OSError as error:
        raise Usage(f"-C {directory}: {(error.strerror or str(error)).lower()}") from error
