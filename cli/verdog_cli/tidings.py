"""What the runtime logs while a command is at work, told as warnings."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

from verdog_cli.messages import tell
from verdog_cli.render import escape


class _Teller(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        try:
            tell(f"warning: {escape(record.getMessage())}")
        except Exception:
            self.handleError(record)


@contextmanager
def telling() -> Generator[None]:
    """In the block, tell on standard error what verdog logs, one line each."""
    logger, teller = logging.getLogger("verdog"), _Teller(logging.WARNING)
    logger.addHandler(teller)
    try:
        yield
    finally:
        logger.removeHandler(teller)
