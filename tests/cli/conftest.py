from collections.abc import Iterator
from pathlib import Path

import pytest

from verdog_repo.repository import Repository


@pytest.fixture
def repository(project: Path) -> Iterator[Repository]:
    with Repository.create(project) as opened:
        yield opened
