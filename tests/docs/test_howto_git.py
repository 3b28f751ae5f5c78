"""The page on Git's tools: its commands work, one after the other."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.cli.store import HandMade
from verdog_repo.repository import Repository

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/howto/git.md").read_text(encoding="utf-8")


def test_the_commands_of_the_page_work(project: Path) -> None:
    with Repository.create(project) as repository:
        made = HandMade(repository, "first")
        made.checkpoint(files={b"report.txt": b"one"})
        made.checkpoint(files={b"report.txt": b"two"})
    commands = "".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))
    assert commands.count("verdog git export") == 3
    verdog = f'verdog() {{ {shlex.quote(sys.executable)} -m verdog_cli "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", verdog + commands],
        cwd=project,
        env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "nothing new for history.git" in done.stdout
    assert (project / "work" / "report.txt").read_text() == "two"
    for name in ("history.git", "server.git"):
        found = subprocess.run(
            ["git", "rev-list", "--all"], cwd=project / name, capture_output=True, check=True
        )
        assert len(found.stdout.split()) == 2
