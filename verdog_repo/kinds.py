"""What happened just before a checkpoint."""

from enum import StrEnum, unique


@unique
class CheckpointKind(StrEnum):
    """What happened just before a checkpoint."""

    ENTRY = "entry"
    NODE = "node"
    CHILD_START = "child-start"
    CHILD_RETURN = "child-return"
    TERMINAL = "terminal"
    FORK = "fork"
