"""Anchors: the two directories that stored paths are relative to."""

from dataclasses import dataclass
from enum import IntEnum, unique

from verdog_objects.errors import InvalidInput


@unique
class Anchor(IntEnum):
    """What a stored path is relative to. The numbers are frozen by format 1."""

    NOTHING = 0
    OUTPUT = 1
    PROJECT = 2


@dataclass(frozen=True, slots=True)
class Anchors:
    """The absolute directories of this run on this machine; empty when there is none.

    Attributes:
        output: the run's output directory, without symbolic links.
        project: the project's root, without symbolic links.
    """

    output: str = ""
    project: str = ""

    def relate(self, path: str) -> tuple[Anchor, str]:
        """Return an absolute path as anchor and the rest below it; the longer anchor wins.

        A path that climbs with `..` is left as it is: moving its anchor would move more than what is below.
        """
        best, rest, length = Anchor.NOTHING, path, 0
        for anchor, root in ((Anchor.PROJECT, self.project), (Anchor.OUTPUT, self.output)):
            if not root or len(root) < length:
                continue
            below = root if root.endswith("/") else root + "/"
            if path == root or path.startswith(below):
                tail = path[len(below) :]
                if ".." not in tail.split("/"):
                    best, rest, length = anchor, tail, len(root)
        return best, rest

    def locate(self, anchor: Anchor, rest: str) -> str:
        """Return the absolute path of what is stored as anchor and rest.

        Raises:
            InvalidInput: the anchor has no directory here.
        """
        if anchor is Anchor.NOTHING:
            return rest
        root = self.output if anchor is Anchor.OUTPUT else self.project
        if not root:
            raise InvalidInput(
                f"the path {rest!r} is relative to the run's {anchor.name.lower()}, which is not known"
            )
        if not rest:
            return root
        return root + rest if root.endswith("/") else f"{root}/{rest}"
