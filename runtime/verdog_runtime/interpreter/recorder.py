"""The recorder: a checkpoint after each transition. The only caller of the repository's commit."""

from collections.abc import Callable
from dataclasses import dataclass, field

from verdog_objects.nodecache import NodeCache
from verdog_objects.oid import Oid
from verdog_objects.store import Writer
from verdog_repo.draft import CheckpointDraft
from verdog_repo.lease import Lease
from verdog_repo.lineage import Lineage
from verdog_repo.names import OperationId, format_commit_id
from verdog_repo.record import CheckpointKind
from verdog_repo.repository import Repository
from verdog_runtime.interpreter.acknowledgements import AcknowledgementLog
from verdog_runtime.interpreter.artifacts import Artifacts, ArtifactTree
from verdog_runtime.interpreter.commands import Record
from verdog_runtime.interpreter.machine import Machine
from verdog_runtime.interpreter.observer import CheckpointNotice, Observer
from verdog_runtime.interpreter.params import Registry
from verdog_runtime.interpreter.snapshot import take_snapshot
from verdog_runtime.interpreter.statetree import StateTree, StateWritten

SERIALIZATION_FAILED = "checkpoint.serialization_failed"
CAPTURE_FAILED = "checkpoint.artifact_capture_failed"
FAILURE_PORT = "checkpoint.failure_port"

_SHOWN_PROBLEMS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """Whether a checkpoint can be restored; if not, the code and the reason."""

    code: str | None
    reason: str | None


@dataclass(slots=True, kw_only=True)
class Recorder:
    """Captures what a visit left, encodes the machine, and commits both. Used by the executing thread.

    Attributes:
        lease: of the run.
        operation: the command that executes the run; it stands in every commit.
        registry: the parameters of every graph.
        environment: stages the fingerprint of code and distributions as they are loaded by now.
        required: a checkpoint that cannot be restored fails the run.
        now: the time as RFC 3339 text in UTC.
        resumed_from: the checkpoint whose state goes on, for the next record, where it is not the latest.
        parent: where the run came from, for its first record.
        nodes: the manifest nodes used last.
    """

    repository: Repository
    lease: Lease
    operation: OperationId
    registry: Registry
    artifacts: ArtifactTree
    state: StateTree
    environment: Callable[[Writer], Oid]
    required: bool
    log: AcknowledgementLog
    observer: Observer
    now: Callable[[], str]
    resumed_from: int | None = None
    parent: Lineage | None = None
    nodes: NodeCache = field(default_factory=NodeCache)

    def record(self, command: Record, machine: Machine) -> None:
        """Commit a checkpoint of the machine as it is.

        Raises:
            RuntimeError: the policy requires restorable checkpoints and this one, which was written, is not
                [checkpoint_required].
            VerdogError: the store failed; nothing was written.

        Durability: the checkpoint is durable when the call returned.
        """
        with self.repository.store.writer() as writer:
            objects = self.nodes.writer(writer)
            artifacts = self.artifacts.take(objects, machine.frame.output, last=command.next is None)
            state = self.state.write(objects, take_snapshot(machine, self.registry))
            verdict = _judge(command, artifacts, state)
            draft = CheckpointDraft(
                kind=CheckpointKind(command.kind),
                operation=self.operation,
                created_at=self.now(),
                completed=command.completed,
                next=command.next,
                restorable=verdict.code is None,
                unavailable_code=verdict.code,
                reason=verdict.reason,
                branchable=verdict.code is None,
                fork_fresh=verdict.code is None,
                swept=artifacts.swept,
                late=artifacts.late,
                artifacts=artifacts.root,
                state=state.root,
                environments=(self.environment(writer),),
                duration_ns=command.duration_ns,
                files_added=artifacts.files,
                bytes_added=artifacts.size_bytes,
                resumed_from=self.resumed_from,
                parent=self.parent,
            )
            checkpoint = self.repository.commit(writer, self.lease, draft)
        self.resumed_from = self.parent = None
        self.log.append(checkpoint)
        self.observer.checkpoint_written(
            CheckpointNotice(
                sequence=checkpoint.sequence,
                commit=format_commit_id(checkpoint.commit),
                restorable=checkpoint.restorable,
                reason=verdict.reason,
            )
        )
        if self.required and verdict.code not in (None, FAILURE_PORT):
            raise _refuse(checkpoint.sequence, verdict, command)


def _refuse(sequence: int, verdict: _Verdict, command: Record) -> RuntimeError:
    error = RuntimeError(
        f"checkpoint {sequence} cannot be restored, and this run requires that each can: "
        f"{verdict.reason} [checkpoint_required]"
    )
    error.add_note(f"node={command.completed.node}")
    return error


def _judge(command: Record, artifacts: Artifacts, state: StateWritten) -> _Verdict:
    if command.failing:
        return _Verdict(code=FAILURE_PORT, reason="the run went to its failure port")
    if state.problems:
        return _Verdict(code=SERIALIZATION_FAILED, reason=_join(state.problems))
    if artifacts.problems:
        return _Verdict(code=CAPTURE_FAILED, reason=_join(artifacts.problems))
    return _Verdict(code=None, reason=None)


def _join(problems: tuple[str, ...]) -> str:
    shown = "; ".join(problems[:_SHOWN_PROBLEMS])
    more = len(problems) - _SHOWN_PROBLEMS
    return f"{shown}; and {more} more" if more > 0 else shown
