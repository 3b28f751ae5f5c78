from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import Starter, shared_starter
from verdog_repo.repository import Repository


@pytest.fixture
def repository(project: Path) -> Iterator[Repository]:
    with Repository.create(project) as opened:
        yield opened


@pytest.fixture
def processes() -> Starter:
    """Starts command lines in processes of their own."""
    return shared_starter()
