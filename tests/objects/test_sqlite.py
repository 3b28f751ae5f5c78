from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from tests.contract.store import TABLES, StoreContract
from verdog_objects.sqlite import SqliteStore, create_store


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def make_store(self, tmp_path: Path) -> Callable[[], SqliteStore]:
        numbers = count()
        return lambda: create_store(tmp_path / f"store{next(numbers)}", TABLES)
