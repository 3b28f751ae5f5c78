"""What the shells offer when the tab key is pressed: in each shell itself where it is there."""

import os
import re
import select
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from tests.cli.store import HandMade
from tests.commandline import Verdog
from tests.docs.generate import command_paths, find_command
from tests.repo.samples import operation
from verdog_cli.completion import KINDS, complete
from verdog_cli.context import Context
from verdog_cli.group import COMMANDS, verdog
from verdog_cli.shells import SHELLS, make_shell, parse_line
from verdog_repo.names import LabelName, RunId, TagName
from verdog_repo.repository import Repository

BREAKS = " \t\n\"'@><=;|&(:"
RUN = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"


@pytest.fixture
def run(repository: Repository) -> HandMade:
    made = HandMade(repository, RUN)
    made.checkpoint("survey", files={b"report.txt": b"x", b"sub/a b.txt": b"y", b"sub/\xff": b""})
    tip = made.checkpoint("tick", files={b"sub/deep/new\nline": b""}, following="survey")
    HandMade(repository, "other").checkpoint()
    repository.marks.add_label(LabelName("baseline"), RunId(RUN), operation=operation())
    repository.marks.add_tag(TagName("before"), tip.commit, operation=operation())
    return made


class Asked:
    """Asks as a shell does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, line: str, shell: str = "fish", breaks: str = BREAKS) -> list[str]:
        self._monkeypatch.setenv("_VERDOG_LINE", line)
        self._monkeypatch.setenv("_VERDOG_BREAKS", breaks)
        return complete(make_shell(shell, verdog, Context())).split("\n")

    def values(self, line: str) -> list[str]:
        return [each.partition("\t")[0] for each in self(line)[1:]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, project: Path) -> Asked:
    return Asked(monkeypatch)


# What is offered


def test_commands_are_offered_without_loading_them(asked: Asked) -> None:
    assert asked.values("verdog ") == [*COMMANDS]
    assert asked("verdog lo") == ["space", f"log\t{COMMANDS['log'].summary}"]
    assert asked.values("verdog git ") == ["export"]
    assert asked.values("verdog git export --f") == ["--files"]
    assert "--no-pager" in asked.values("verdog -")


def test_options_and_choices_are_offered(asked: Asked) -> None:
    assert {"--graph", "--node"} <= {*asked.values("verdog log --")}
    assert asked.values("verdog completion ") == ["bash", "zsh", "fish"]
    assert asked.values("verdog fork x --sessions ") == ["branch", "fresh"]
    assert asked.values("verdog fork x --sessions=f") == ["fresh"]


def test_runs_labels_and_tags_are_offered(asked: Asked, run: HandMade) -> None:
    assert asked.values("verdog resume ") == ["baseline", RUN, "other"]
    assert asked.values("verdog log ") == ["baseline", RUN, "other", "before"]
    assert asked("verdog log 6f")[1:] == [f"{RUN}\t2 checkpoints, tick/000002 -> survey"]
    assert asked.values("verdog diff 6f96..ot") == ["6f96..other"]
    assert asked.values("verdog diff 6f96...ot") == ["6f96...other"]
    assert asked.values("verdog diff other ba") == ["baseline"]
    assert asked.values("verdog label -d ") == ["before", "baseline"]


def test_commits_are_offered_by_their_prefix(asked: Asked, run: HandMade) -> None:
    commit = run.repository.checkpoint_at(RunId(RUN), 1).commit.hex()
    assert asked.values(f"verdog show {commit[:6]}") == [commit]
    assert asked.values(f"verdog show {commit[:3]}") == []


def test_checkpoints_are_offered_by_number_and_node(asked: Asked, run: HandMade) -> None:
    assert asked.values(f"verdog show {RUN}@") == [f"{RUN}@{each}" for each in ("2", "1", "tick", "survey")]
    assert asked.values("verdog show baseline@s") == ["baseline@survey"]
    assert asked("verdog show 6f96@2")[1:] == ["6f96@2\ttick/000002 -> survey"]
    assert asked.values("verdog show 6f96@9") == []
    assert asked.values(f"verdog log {RUN} --node ") == ["tick", "survey"]


def test_numbers_are_offered_by_their_first_digits(asked: Asked, repository: Repository) -> None:
    made = HandMade(repository, "long")
    for _ in range(25):
        made.checkpoint()
    assert asked.values("verdog show long@2") == [f"long@{each}" for each in (2, 20, 21, 22, 23, 24, 25)]
    assert asked.values("verdog show long@") == [f"long@{each}" for each in (*range(25, 15, -1), "survey")]


def test_paths_are_offered_after_a_colon_and_after_dashes(asked: Asked, run: HandMade) -> None:
    assert asked("verdog cat 6f96:r") == ["space", "6f96:report.txt\t1 bytes"]
    assert asked("verdog cat 6f96:su") == ["nospace", "6f96:sub/"]
    assert asked.values("verdog cat 6f96@1:sub/") == ["6f96@1:sub/a b.txt"]  # \xff cannot be typed
    assert asked.values("verdog cat 6f96:sub/deep/") == []  # nor can a line feed
    assert asked.values("verdog log 6f96 -n 3 -- sub/d") == ["sub/deep/"]
    assert asked.values("verdog diff other..6f96 -- re") == ["report.txt"]
    assert asked("verdog run flow.py -- --in") == ["files"]


def test_files_are_left_to_the_shell(asked: Asked, run: HandMade) -> None:
    assert asked("verdog run ") == ["files"]
    assert asked("verdog checkout 6f96 ") == ["dirs"]
    assert asked("verdog -C ") == ["dirs"]
    assert asked("verdog log ./") == ["dirs"]
    assert asked("verdog fork x --output-dir ") == ["dirs"]


def test_the_project_of_a_directory_is_asked(
    asked: Asked, run: HandMade, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert asked.values(f"verdog -C {project} log o") == ["other"]


def test_types_are_what_they_were_afterwards(asked: Asked, run: HandMade) -> None:
    before = [param.type for param in (*find_command("checkout").params, *verdog.params)]
    asked("verdog checkout ")
    assert [param.type for param in (*find_command("checkout").params, *verdog.params)] == before


def test_every_argument_is_known_to_completion() -> None:
    """A new word in a usage line belongs into `KINDS`, or has choices of its own."""
    for path in command_paths():
        for param in find_command(*path).params:
            if isinstance(param, click.Argument) and not isinstance(param.type, click.Choice | click.Path):
                metavar = param.metavar or param.name or ""
                assert {metavar, metavar.removeprefix("[").removesuffix("]")} & KINDS.keys(), (path, metavar)


# How it is written


@pytest.mark.parametrize(
    ("text", "words", "word", "quote"),
    [
        ("", [], "", ""),
        ("verdog", [], "verdog", ""),
        ("verdog  log ", ["verdog", "log"], "", ""),
        ('verdog \'a b\' "c\\"d\\e"f', ["verdog", "a b"], 'c"d\\ef', ""),
        ("verdog a\\ b'c", ["verdog"], "a bc", "'"),
        ('verdog "x: y', ["verdog"], "x: y", '"'),
        ("verdog a\\", ["verdog"], "a", ""),
        ("verdog '' ", ["verdog", ""], "", ""),
        ("verdog 'a\\b'", ["verdog"], "a\\b", ""),
    ],
)
def test_a_line_is_cut_as_a_shell_does(text: str, words: list[str], word: str, quote: str) -> None:
    assert parse_line(text) == (words, word, quote)


def test_bash_gets_what_follows_its_last_break(asked: Asked, run: HandMade) -> None:
    assert asked("verdog cat 6f96:sub/a", "bash") == ["space", "sub/a\\ b.txt"]
    assert asked("verdog cat 6f96:", "bash")[1:] == ["report.txt", "sub/"]
    assert asked("verdog show 6f96@s", "bash") == ["space", "@survey"]
    assert asked("verdog show 6f96@s", "bash", breaks=" \n") == ["space", "6f96@survey"]
    assert asked("verdog cat '6f96:sub/a", "bash") == ["space", "6f96:sub/a b.txt"]
    assert asked("verdog fork x --sessions=f", "bash") == ["space", "fresh"]


# Through the program


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A directory with nothing but a `verdog` in it."""
    directory = tmp_path / "bin"
    directory.mkdir()
    (directory / "verdog").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m verdog_cli "$@"\n')
    (directory / "verdog").chmod(0o755)
    return directory


def environment(program: Path, **more: str) -> dict[str, str]:
    return {
        "PATH": f"{program}:{os.environ['PATH']}",
        "HOME": os.environ["HOME"],
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        **more,
    }


@pytest.mark.parametrize(
    ("instruction", "line"),
    [
        ("bash_complete", "verdog log nothing@"),
        ("bash_complete", "verdog -C /nowhere log "),
        ("bash_complete", "verdog bogus sub "),
        ("bash_source", "verdog "),
        ("tcsh_complete", "verdog "),
        ("", "verdog "),
    ],
)
def test_a_mistake_says_nothing(program: Path, run: HandMade, instruction: str, line: str) -> None:
    done = subprocess.run(
        [program / "verdog"],
        env=environment(program, _VERDOG_COMPLETE=instruction, _VERDOG_LINE=line),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_damaged_store_says_nothing(program: Path, project: Path) -> None:
    store = project / ".verdog" / "store"
    store.mkdir(parents=True)
    (store / "store.db").write_bytes(b"garbage" * 1_000)
    done = subprocess.run(
        [program / "verdog"],
        env=environment(program, _VERDOG_COMPLETE="zsh_complete", _VERDOG_LINE="verdog log "),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_answering_loads_little(run: HandMade, project: Path) -> None:
    unread = ("pygit2", "cloudpickle", "rich", "tyro", "verdog_runtime", "verdog_repo.repository", "json")
    program = (
        "import sys\nfrom verdog_cli.completion import answer\n"
        "assert answer('bash_complete') == 0\n"
        f"print([each for each in {unread!r} if each in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "_VERDOG_LINE": f"verdog log {RUN}@", "_VERDOG_BREAKS": BREAKS},
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "space\n@2\n@1\n@tick\n@survey\n[]\n"


def test_the_script_is_printed(verdog: Verdog) -> None:
    for shell in SHELLS:
        result = verdog("completion", shell)
        assert result.code == 0 and f"{shell}_complete" in result.out
    assert verdog("completion", "tcsh").code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_accepts_the_script(verdog: Verdog, shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(verdog("completion", shell).out)
    done = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


class Terminal:
    """An interactive shell on a terminal of its own, which another process holds."""

    def __init__(self, arguments: list[str], environ: dict[str, str], directory: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", "import pty, sys; pty.spawn(sys.argv[1:])", *arguments],
            env=environ,
            cwd=directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
        )

    def type(self, keys: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(keys.encode())

    def read_until(self, pattern: str, seconds: float = 30) -> str:
        text = ""
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        while not re.search(pattern, text):
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"{pattern!r} did not appear in {text!r}"
            data = self._process.stdout.read(65_536)
            assert data, f"the shell ended after {text!r}"
            text += data.decode(errors="replace")
        return text

    def complete(self, line: str) -> str:
        """Type a line and a tab, then have the shell print what became of it."""
        self.type(f"{line}\t")
        time.sleep(0.05)
        self.type("\x01echo '[\x05]'\r")
        text = self.read_until(r"\r\n\[verdog[^\r]*\]")
        return re.findall(r"\r\n\[(verdog[^\r]*)\]", text)[-1]

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


LINES = [
    ("verdog chec", "verdog check"),
    ("verdog res", "verdog res"),
    ("verdog resu", "verdog resume "),
    ("verdog log ba", "verdog log baseline "),
    (f"verdog log {RUN}@su", f"verdog log {RUN}@survey "),
    (f"verdog cat {RUN}@2:rep", f"verdog cat {RUN}@2:report.txt "),
    (f"verdog cat {RUN}:su", f"verdog cat {RUN}:sub/"),
    (f"verdog cat {RUN}:sub/a", f"verdog cat {RUN}:sub/a\\ b.txt "),
    (f"verdog log {RUN}..oth", f"verdog log {RUN}..other "),
    (f"verdog log {RUN} -- rep", f"verdog log {RUN} -- report.txt "),
    ("verdog git ex", "verdog git export "),
    ("verdog fork x --sessions fr", "verdog fork x --sessions fresh "),
    ("verdog -C su", "verdog -C subdirectory/"),
    ("verdog run fl", "verdog run flow.py "),
    ("verdog log nothing@x", "verdog log nothing@x"),
]


def test_bash_completes_lines(program: Path, run: HandMade, project: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    _make_files(project)
    _drive(
        Terminal(["bash", "--norc", "--noprofile", "-i"], environment(program, PS1="$ "), project),
        [
            "bind 'set bell-style none'",
            "bind 'set enable-bracketed-paste off'",
            "source <(verdog completion bash)",
        ],
    )


@pytest.mark.slow
def test_zsh_completes_lines(program: Path, run: HandMade, project: Path, tmp_path: Path) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    _make_files(project)
    _drive(
        Terminal(["zsh", "-f", "-i"], environment(program, PS1="$ "), project),
        [
            "unsetopt beep prompt_sp prompt_cr auto_menu auto_remove_slash",
            "unset zle_bracketed_paste",
            f"autoload -Uz compinit && compinit -u -d {tmp_path}/zcompdump",
            "bindkey -e",
            "source <(verdog completion zsh)",
        ],
        keeps_space=False,
    )


@pytest.mark.slow
def test_fish_completes_lines(program: Path, run: HandMade, project: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    _make_files(project)
    lines = [(line, expected) for line, expected in LINES if " --sessions" not in line]
    script = ["verdog completion fish | source"]
    script += [f"complete -C {shlex.quote(line)}; echo ----" for line, _ in lines]
    done = subprocess.run(
        ["fish", "--no-config", "-c", "\n".join(script)],
        env=environment(program),
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    answers = done.stdout.split("----\n")
    for (line, expected), answer in zip(lines, answers, strict=False):
        word = line.rpartition(" ")[2]
        offered = [each.partition("\t")[0] for each in answer.splitlines()]
        wanted = expected.removeprefix(line.removesuffix(word)).removesuffix(" ").replace("\\ ", " ")
        if wanted == word:
            assert len(offered) != 1
        else:
            assert offered and all(each.startswith(wanted) for each in offered), line


def _make_files(project: Path) -> None:
    (project / "subdirectory").mkdir()
    (project / "flow.py").touch()


def _drive(terminal: Terminal, setup: list[str], *, keeps_space: bool = True) -> None:
    try:
        terminal.type("".join(f"{line}\r" for line in setup) + "echo rea''dy\r")
        terminal.read_until(r"\nready\r")
        for line, expected in LINES:
            assert terminal.complete(line) == (expected if keeps_space else expected.rstrip())
    finally:
        terminal.close()
