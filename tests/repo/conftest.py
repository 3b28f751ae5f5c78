"""A script per store: what the repository promises holds over each of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repo.samples import Script, make_script


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Script]:
    """A repository over a store in memory; sound when the test is over."""
    yield from make_script("memory", tmp_path)


@pytest.fixture(params=["memory", "sqlite"])
def any_script(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Script]:
    """A repository over each kind of store; sound when the test is over."""
    yield from make_script(request.param, tmp_path)
