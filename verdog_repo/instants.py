"""Instants: moments in UTC, as RFC 3339 text and as whole microseconds."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from verdog_objects.errors import InvalidInput

_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
MICROSECONDS: Final = 1_000_000
"""How many make a second."""


def parse_instant(text: str) -> int:
    """Return the microseconds since 1970 of RFC 3339 text in UTC, such as `2026-01-31T12:00:00.25Z`.

    Raises:
        InvalidInput: the text has another form, another zone, more than six decimals or names no moment.
    """
    if _INSTANT.fullmatch(text) is None:
        raise InvalidInput(f"{text!r} is no instant: RFC 3339 in UTC with Z expected")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is no instant: {error}") from error
    return (moment - _EPOCH) // _MICROSECOND


def format_instant(microseconds: int) -> str:
    """Return RFC 3339 text in UTC with six decimals."""
    moment = _EPOCH + timedelta(microseconds=microseconds)
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
