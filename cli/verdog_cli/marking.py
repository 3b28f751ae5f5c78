"""What the commands that give names have in common: the operation they are logged as."""

import secrets
import sys
import time

from verdog_repo.instants import format_instant
from verdog_repo.names import parse_operation_id
from verdog_repo.operations import OperationDraft


def begin_operation(kind: str) -> OperationDraft:
    """Return the row of the operation log for this command line."""
    return OperationDraft(
        id=parse_operation_id(secrets.token_hex(8)),
        kind=kind,
        at=format_instant(time.time_ns() // 1000),
        command=tuple(sys.argv[1:]),
    )
