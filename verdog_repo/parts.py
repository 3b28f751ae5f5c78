"""Parts of a structured text: where it changed, and what was and is there."""

from typing import NamedTuple


class PartChange(NamedTuple):
    """One part that two versions differ in.

    Attributes:
        path: where it is, as `.loss[3]` or `row 7: lines`.
        before: its text in the first version, or None when it was added.
        after: its text in the second version, or None when it was removed.
    """

    path: str
    before: str | None
    after: str | None
