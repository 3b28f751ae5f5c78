"""Completion: what may follow on a command line. It answers quickly or not at all, and says nothing else."""

import contextlib
import os
import signal
import sys
from collections.abc import Generator
from types import FrameType
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

from verdog_cli.context import Context
from verdog_cli.group import PathsCommand, verdog
from verdog_cli.shells import Shell, make_shell

_LIMIT_S = 2.0
"""A shell that waits longer seems broken."""

KINDS = {
    "REV": "revision",
    "A": "revision",
    "B": "revision",
    "REV[:PATH]": "file",
    "REV:PATH": "file",
    "RUN": "run",
    "[RUN] [NAME]": "run",
    "NAME": "mark",
    "NODE": "node",
    "DIR": "directory",
    "FILE[:NAME]": "source",
    "workflow": "source",
    "name": "nothing",
}
"""What an argument or an option's value stands for, by the word that the help has for it."""


class _Asked(NamedTuple):
    """The complete words of a command line.

    Attributes:
        command: the command that they call, or the group if there is none yet.
        directory: what `-C` says.
        rest: the words after the command.
    """

    command: click.Command
    directory: str | None
    rest: list[str]


class _Completed(StringParamType):
    """The type of an argument while a line is completed."""

    def __init__(self, kind: str, rest: list[str]) -> None:
        self._kind = kind
        self._rest = rest

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem[str]]":
        """Return what the argument may be."""
        if self._kind == "directory":
            return [CompletionItem(incomplete, type="dir")]
        if self._kind == "nothing":
            return []
        if self._kind == "source":
            return [CompletionItem(incomplete, type="file")]
        from verdog_cli.candidates import find_candidates

        project = ctx.ensure_object(Context).project()
        return _as_items(find_candidates(project, self._kind, incomplete, self._rest))


def answer(instruction: str) -> int:
    """Print what may follow, for the shell that asked (`bash_complete`), and return 0 whatever happens.

    Cost: one process of verdog; opens the store only where a run, a checkpoint or a file is named.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, _LIMIT_S)
    try:
        name, _, action = instruction.partition("_")
        if action == "complete":
            text = complete(make_shell(name, verdog, Context()))
            sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape") + b"\n")
            sys.stdout.flush()
    except BaseException:
        _give_up()
    return 0


def complete(shell: Shell) -> str:
    """Return the answer for a shell, whose line is in the environment."""
    words, word = shell.get_completion_args()
    asked = _read_words(words)
    if asked.directory is not None:
        os.chdir(asked.directory)
    if "--" in asked.rest:
        return shell.format_answer(_complete_tail(asked, word))
    with _taught(asked.command, asked.rest):
        return shell.format_answer(shell.get_completions(words, word))


def _give_up(number: int = 0, frame: FrameType | None = None) -> None:
    os._exit(0)  # what is half printed stays where it is


def _read_words(words: list[str]) -> _Asked:
    here: click.Command = verdog
    context = click.Context(verdog, obj=Context(), resilient_parsing=True)
    directory: str | None = None
    position = 0
    while position < len(words) and isinstance(here, click.Group):
        word = words[position]
        position += 1
        if word == "-C" and here is verdog and position < len(words):
            directory = words[position]
            position += 1
        elif not word.startswith("-"):
            found = here.get_command(context, word)
            if found is None:
                break
            here = found
    return _Asked(here, directory, words[position:])


@contextlib.contextmanager
def _taught(command: click.Command, rest: list[str]) -> Generator[None]:
    """Have the arguments of a command, and of the group, complete what their words in the help stand for."""
    params = [*command.params, *verdog.params]
    types = [param.type for param in params]
    for param in params:
        metavar = param.metavar or param.name or ""
        if metavar not in KINDS:
            metavar = metavar.removeprefix("[").removesuffix("]")
        kind = KINDS.get(metavar)
        if kind is not None:
            param.type = _Completed(kind, rest)
    try:
        yield
    finally:
        for param, before in zip(params, types, strict=True):
            param.type = before


def _complete_tail(asked: _Asked, word: str) -> "list[CompletionItem[str]]":
    """Return what may follow behind `--`: paths of a checkpoint, or whatever the workflow understands."""
    if not isinstance(asked.command, PathsCommand):
        return [CompletionItem(word, type="file")]
    from verdog_cli.candidates import find_candidates

    words = asked.rest[: asked.rest.index("--")]
    return _as_items(find_candidates(Context().project(), "path", word, words))


def _as_items(found: list[tuple[str, str]]) -> "list[CompletionItem[str]]":
    return [
        CompletionItem(value, type="dir" if not value else "plain", help=said or None)
        for value, said in found
    ]
