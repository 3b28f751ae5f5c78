from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from verdog_cli.application import run_application
from verdog_repo.repository import Repository


class Result(NamedTuple):
    code: int
    out: str
    err: str


Verdog = Callable[..., Result]


@pytest.fixture
def verdog(project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Verdog:
    """Run a command line in this process, in the project's directory."""

    def call(*arguments: str) -> Result:
        capfd.readouterr()
        monkeypatch.chdir(project)
        code = run_application(arguments)
        return Result(code, *capfd.readouterr())

    return call


@pytest.fixture
def repository(project: Path) -> Iterator[Repository]:
    with Repository.create(project) as opened:
        yield opened
