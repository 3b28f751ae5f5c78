"""The workflow that the soak test runs: what each visit writes follows from its arguments and its turn.

The test copies this file into its project, and works out with the same functions what must be recorded.
"""

import hashlib
import random
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from verdog_runtime.authoring import Context, FeatureState, Success, Workflow

SIZES = (1_000, 0, 70_000, 20, 5_000, 300_000)
"""The sizes of the content, turn by turn."""


@dataclass(frozen=True)
class Plan:
    """How many turns a run takes, and what its files are like."""

    turns: int = 5
    flavour: int = 0


@dataclass(frozen=True)
class Chain:
    """The state of `work`: a hash over all that was written so far."""

    taken: int = 0
    digest: bytes = b""


class Leaf(NamedTuple):
    """A file, or a link when `mode` is None, or an empty directory when `content` is None."""

    content: bytes | None
    mode: int | None = 0o644


class ToldToFail(Exception):
    """A file of the name `failing` stood beside the workflow."""


def make_content(flavour: int, turn: int) -> bytes:
    """Return bytes that nothing compresses; the second half of large ones is the same in all flavours."""
    size = SIZES[turn % len(SIZES)]
    own = random.Random(f"{flavour} {turn}").randbytes(size)
    return own if size < 50_000 else own[: size // 2] + random.Random(turn).randbytes(size - size // 2)


def advance(chain: Chain, flavour: int) -> Chain:
    """Return the state after the next visit of `work`."""
    content = make_content(flavour, chain.taken + 1)
    return Chain(chain.taken + 1, hashlib.sha256(chain.digest + content).digest())


def work_leaves(chain: Chain, flavour: int) -> dict[bytes, Leaf]:
    """Return what the visit of `work` that left this state has written."""
    leaves = {
        b"content.bin": Leaf(make_content(flavour, chain.taken)),
        b"digest.txt": Leaf(chain.digest.hex().encode()),
    }
    if chain.taken % 3 == 0:
        leaves |= {b"empty": Leaf(None), b"link": Leaf(b"content.bin", None)}
    if chain.taken % 4 == 0:
        leaves |= {b"\xfe l\n1": Leaf(b"%d" % chain.taken, 0o600), b"--help": Leaf(b"fixed", 0o755)}
    return leaves


def tick_leaves(left_over: int) -> dict[bytes, Leaf]:
    """Return what the visit of `tick` has written after which so many turns are left."""
    return {b"left.txt": Leaf(b"%d" % left_over)}


def write_leaves(directory: Path, leaves: dict[bytes, Leaf]) -> None:
    """Write the files, links and empty directories of a visit."""
    for name, leaf in leaves.items():
        path = directory / name.decode("utf-8", "surrogateescape")
        if leaf.content is None:
            path.mkdir()
        elif leaf.mode is None:
            path.symlink_to(leaf.content.decode())
        else:
            path.write_bytes(leaf.content)
            path.chmod(leaf.mode)


flow = Workflow("soak", input=Plan, output=Plan)
left = flow.integer("left")
start = flow.feature_node("start", carries=Plan)
work = flow.python_node("work", output=Plan, state=Chain)
tick = flow.feature_node("tick", carries=Plan)


@start.on(flow.enter)
def begin(value: Plan, state: FeatureState, context: Context) -> FeatureState:
    """Set the number of turns."""
    return state.replace(left, value.turns)


@work.on(start, effects=[left.unconstrained])
@work.on(tick, effects=[left.decreases])
def write(value: Plan, state: Chain, context: Context) -> Success[Plan, Chain]:
    """Do one turn's work."""
    after = advance(state, value.flavour)
    leaves = work_leaves(after, value.flavour)
    write_leaves(context.output_dir, leaves)
    if after.taken % 4 == 2 and Path(__file__).with_name("failing").exists():
        raise ToldToFail(f"in turn {after.taken}")
    return Success(output=value, state=after)


@tick.on(work, when=[left.positive])
def count(value: Plan, state: FeatureState, context: Context) -> FeatureState:
    """Count down."""
    left_over = state.get(left) - 1
    write_leaves(context.output_dir, tick_leaves(left_over))
    return state.replace(left, left_over)


flow.exit.on(work, when=[left.zero])
