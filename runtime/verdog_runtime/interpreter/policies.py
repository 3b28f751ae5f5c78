"""Policies: how a run is kept, and what becomes of its conversations."""

from enum import StrEnum


class CheckpointPolicy(StrEnum):
    """Whether a run is committed after every node.

    Attributes:
        OFF: never.
        AUTO: always; where that is impossible the checkpoint says why, and the run goes on.
        REQUIRED: always; where that is impossible the run fails.
    """

    OFF = "off"
    AUTO = "auto"
    REQUIRED = "required"


class SessionPolicy(StrEnum):
    """What a fork or a restart does with the conversations of the run it starts from.

    Attributes:
        BRANCH: each goes on as a branch of its own.
        FRESH: each begins anew.
    """

    BRANCH = "branch"
    FRESH = "fresh"
