"""What the facts about a project and its machine mean: findings to act on, and advice."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdog_cli.render import escape, format_size, plural

if TYPE_CHECKING:
    from verdog_objects.disks import Disk
    from verdog_repo.doctor import Facts, StoreFacts
    from verdog_repo.names import RunId

_LEAST_BYTES = 1 << 30
_LEAST_INODES = 10_000
_LEAST_FILES = 256
_SLOW_SYNC_NS = 20_000_000
_PRETENDED_SYNC_NS = 5_000
_MEMORY_TYPES = frozenset({"tmpfs", "ramfs"})
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing to know.

    Attributes:
        kind: a stable name of it.
        finding: something is wrong or was left undone; otherwise it is advice.
        hint: what to do, or None.
    """

    kind: str
    finding: bool
    message: str
    hint: str | None = None


def judge(facts: "Facts") -> list[Remark]:
    """Return what the facts mean, findings first."""
    remarks = [*_judge_store(facts.store)] if facts.store is not None else []
    for number, (purpose, disk) in enumerate(facts.disks):
        remarks += _judge_disk(purpose, disk, has_store=number == 0)
    remarks += _judge_leftovers(facts)
    remarks += _judge_limits(facts)
    remarks += _judge_syncs(facts)
    return sorted(remarks, key=lambda each: not each.finding)


def _judge_store(store: "StoreFacts") -> Iterator[Remark]:
    if store.error is not None:
        hint = "`verdog fsck` says what is damaged" if store.error.kind == "corrupt" else None
        yield Remark(
            kind="store", finding=True, message=f"the store cannot be read: {store.error}", hint=hint
        )
    yield from _judge_interrupted([run for run in store.interrupted if run not in store.stuck])
    for run in store.stuck[:_SHOWN]:
        yield Remark(
            kind="run.stuck",
            finding=False,
            message=f"run {run} was interrupted where it cannot go on: it has no usable latest checkpoint",
            hint=f"verdog restart {run} --sessions fresh",
        )
    if store.missing:
        yield Remark(
            kind="run.output_missing",
            finding=False,
            message=f"the output directory of {plural(store.missing, 'run')} is gone",
            hint="`verdog resume RUN` and `verdog checkout RUN DIR` write the recorded files again",
        )


def _judge_interrupted(runs: "Sequence[RunId]") -> Iterator[Remark]:
    for run in runs[:_SHOWN]:
        yield Remark(
            kind="run.interrupted",
            finding=True,
            message=f"run {run} was interrupted: it has not ended, and no process executes it",
            hint=f"verdog resume {run}",
        )
    if len(runs) > _SHOWN:
        yield Remark(
            kind="run.interrupted",
            finding=True,
            message=f"{plural(len(runs) - _SHOWN, 'more run')} of that kind",
            hint="`verdog runs --status interrupted` lists all",
        )


def _judge_disk(purpose: str, disk: "Disk", *, has_store: bool) -> Iterator[Remark]:
    where = f"{escape(str(disk.path))} ({purpose})"
    if disk.network and has_store:
        yield Remark(
            kind="disk.network",
            finding=True,
            message=f"{where} is on {disk.type}, where other hosts change files and locks cannot be trusted",
            hint="keep the project on a disk of this machine",
        )
    if not disk.writable:
        reason = "is mounted for reading only" if disk.frozen else "cannot be written by this user"
        yield Remark(kind="disk.read_only", finding=True, message=f"{where} {reason}")
    if disk.free_bytes < _LEAST_BYTES:
        yield Remark(
            kind="disk.space",
            finding=True,
            message=f"{where} has {format_size(disk.free_bytes)} left",
            hint="a run stops at a full disk; nothing recorded is lost",
        )
    if disk.free_inodes is not None and disk.free_inodes < _LEAST_INODES:
        yield Remark(
            kind="disk.inodes",
            finding=True,
            message=f"{where} has room for {plural(disk.free_inodes, 'more file')}, however small",
        )
    if disk.type in _MEMORY_TYPES:
        yield Remark(
            kind="disk.memory",
            finding=False,
            message=f"{where} is in memory ({disk.type}): all of it is gone after a restart",
        )


def _judge_leftovers(facts: "Facts") -> Iterator[Remark]:
    for path in facts.leftovers[:_SHOWN]:
        yield Remark(
            kind="leftover",
            finding=True,
            message=f"{escape(str(path))} was left by a process that was killed",
            hint="nothing needs it: remove it, or let the next checkout or fork there do so"
            if path.name.startswith(".verdog-partial-")
            else "nothing needs it: remove it",
        )
    if len(facts.leftovers) > _SHOWN:
        more = plural(len(facts.leftovers) - _SHOWN, "more path")
        yield Remark(kind="leftover", finding=True, message=f"{more} of that kind: see --json")


def _judge_limits(facts: "Facts") -> Iterator[Remark]:
    soft, _ = facts.open_files
    if 0 <= soft < _LEAST_FILES:
        yield Remark(
            kind="limit.open_files",
            finding=True,
            message=f"a process may open only {soft} files",
            hint=f"ulimit -n {4 * _LEAST_FILES}",
        )
    longest = facts.disks[0][1].longest_path if facts.disks else 0
    used = facts.store.longest_output if facts.store is not None else 0
    if used > longest // 2:
        yield Remark(
            kind="limit.path",
            finding=False,
            message=f"output directories have paths of {used} of {longest} bytes, and nested calls need more",
            hint="move the project up, or run with --output-dir",
        )


def _judge_syncs(facts: "Facts") -> Iterator[Remark]:
    if not facts.syncs_ns:
        return
    median = facts.syncs_ns[len(facts.syncs_ns) // 2]
    if median > _SLOW_SYNC_NS:
        yield Remark(
            kind="sync.slow",
            finding=False,
            message=f"the disk takes {median / 1e6:.0f} ms to sync, and every checkpoint waits for that",
            hint="keep the project on a faster disk if visits are shorter than that",
        )
    elif median < _PRETENDED_SYNC_NS and facts.disks and facts.disks[0][1].type not in _MEMORY_TYPES:
        yield Remark(
            kind="sync.pretended",
            finding=False,
            message="a sync returns at once: something below pretends, and a power cut may lose checkpoints",
        )
