"""The garbage collector: hardly run while a command loads its modules, as usual while a workflow is executed.

Loading modules makes many objects and no garbage, and collections take a sixth of a short command's time.
"""

import gc
from typing import Final

_USUAL: Final = gc.get_threshold()
_RARE: Final = 50_000
"""More objects than a short command makes, and few enough for a long one to be collected now and then."""


def collect_rarely() -> None:
    """Look for garbage after every 50,000 new objects only."""
    gc.set_threshold(_RARE, *_USUAL[1:])


def collect_as_usual() -> None:
    """Look for garbage as often as Python does by itself."""
    gc.set_threshold(*_USUAL)
