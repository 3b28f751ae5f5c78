from collections.abc import Callable

import pytest

from tests.contract.store import StoreContract
from tests.contract.tables import TABLES
from verdog_objects.memory import MemoryStore


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def make_store(self) -> Callable[[], MemoryStore]:
        return lambda: MemoryStore(TABLES)
