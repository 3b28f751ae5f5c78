from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import Starter
from verdog_repo.repository import Repository


@pytest.fixture
def repository(project: Path) -> Iterator[Repository]:
    with Repository.create(project) as opened:
        yield opened


@pytest.fixture(scope="session")
def processes() -> Iterator[Starter]:
    """Starts command lines in processes of their own."""
    with Starter() as starter:
        yield starter
