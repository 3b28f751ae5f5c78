"""Opening the books of a run: header, lease, control directory, and what is recorded from there on."""

import os
import secrets
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from verdog_objects import durable
from verdog_objects.oid import Oid
from verdog_objects.signatures import Signatures
from verdog_repo.filenames import parse_filename
from verdog_repo.lease import Lease
from verdog_repo.lineage import Lineage
from verdog_repo.names import OperationId, RunId
from verdog_repo.operations import OperationDraft
from verdog_repo.repository import Repository
from verdog_repo.runs import RunHeader, RunStatus, SourceFile, SourceModule
from verdog_runtime.environment import EnvironmentTracker
from verdog_runtime.interpreter.acknowledgements import AcknowledgementLog
from verdog_runtime.interpreter.artifacts import ArtifactTree
from verdog_runtime.interpreter.holding import hold_output, require_unused
from verdog_runtime.interpreter.mainmodule import name_main_module
from verdog_runtime.interpreter.params import Registry
from verdog_runtime.interpreter.policies import CheckpointPolicy
from verdog_runtime.interpreter.recorder import Recorder
from verdog_runtime.interpreter.settings import Settings
from verdog_runtime.interpreter.statetree import StateTree
from verdog_runtime.interpreter.storebooks import StoreBooks, describe_error
from verdog_runtime.layout import CONTROL_DIRECTORY, exclude_control_files, require_control_directory
from verdog_runtime.mirror import mirror_run
from verdog_runtime.runfacts import RunFacts, describe_compatibility
from verdog_runtime.runrecord import write_run_record
from verdog_runtime.values import Anchors


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """What the header of a new run says that its execution does not decide."""

    run: RunId
    output_dir: str
    workflow: str
    definition_id: str
    module: str
    source: SourceFile | SourceModule | None
    arguments: tuple[str, ...]
    checkpointing: CheckpointPolicy
    parent: Lineage | None
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A run that is held, whose books are to be opened, and the operation that does it."""

    repository: Repository
    lease: Lease
    header: RunHeader
    output: Path
    operation: OperationId


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """Where recording goes on.

    Attributes:
        registry: the parameters of every graph.
        artifacts: the artifact tree of the last checkpoint, or None at the beginning.
        signatures: what is known of the recorded files on disk.
        resumed_from: the checkpoint whose state goes on, if it is not the latest.
        parent: where a run that begins came from.
    """

    registry: Registry
    artifacts: Oid | None = None
    signatures: Signatures | None = None
    resumed_from: int | None = None
    parent: Lineage | None = None


@contextmanager
def open_new_books(
    settings: Settings, new: NewRun, output: Path, registry: Registry
) -> Generator[StoreBooks]:
    """Make a run: header row, then directory, then the copies in it. The run is held inside the block.

    Raises:
        InvalidInput: the run id is already used in the project, or another run has begun in the directory
            meanwhile; in that case this one is listed as failed.
        RunActive: another run is being executed there; this one is listed as failed.
        Unavailable: the directory cannot be made; the run is listed as failed.
    """
    with Repository.create(settings.project_root) as repository:
        begun = settings.now()
        operation = new_operation("restart" if new.parent is not None else "run", begun, new.command)
        header = RunHeader(
            run=new.run,
            workflow=new.workflow,
            definition_id=new.definition_id,
            module=new.module,
            source=new.source,
            arguments=new.arguments,
            checkpointing=new.checkpointing.value,
            status=RunStatus.RUNNING,
            started_at=begun,
            updated_at=begun,
            output_dir=new.output_dir,
            parent=new.parent,
        )
        repository.create_run(header, operation=operation)
        with ExitStack() as held:
            try:
                lease = held.enter_context(repository.lease(new.run))
                claim_output(output)
                held.enter_context(hold_output(output, "the output directory is in use"))
                require_unused(output)
            except Exception as error:
                failed = replace(header, status=RunStatus.FAILED, error=describe_error(error))
                repository.update_header(new.run, None, failed)
                raise
            continuation = Continuation(registry=registry, parent=new.parent)
            opening = Opening(
                repository=repository, lease=lease, header=header, output=output, operation=operation.id
            )
            with open_books(settings, opening, continuation) as books:
                yield books


@contextmanager
def open_books(settings: Settings, opening: Opening, continuation: Continuation) -> Generator[StoreBooks]:
    """Open the books of a run whose lease and whose output directory's lock are held.

    Raises:
        Exception: something is in the way; the run is listed as failed.
    """
    repository, header, output = opening.repository, opening.header, opening.output
    books = StoreBooks(
        repository=repository,
        lease=opening.lease,
        header=header,
        facts=RunFacts(),
        output=output,
        recorder=None,
        anchors=Anchors(output=os.path.realpath(output), project=os.path.realpath(repository.project)),
        main_module=name_main_module(),
        now=settings.now,
    )
    with ExitStack() as stack:
        try:
            if header.checkpointing != CheckpointPolicy.OFF.value:
                log = AcknowledgementLog(output)
                stack.callback(log.close)
                environment = EnvironmentTracker(repository.project, _workflow_file(repository, header))
                books.facts = RunFacts(compatibility=describe_compatibility(environment.environment()))
                books.recorder = _make_recorder(settings, opening, continuation, books, log, environment)
            write_run_record(output, header, repository.project, books.facts)
            mirror_run(repository, header.run, output)
        except BaseException as error:
            books.interrupt(error)
            raise
        yield books


def _make_recorder(
    settings: Settings,
    opening: Opening,
    continuation: Continuation,
    books: StoreBooks,
    log: AcknowledgementLog,
    environment: EnvironmentTracker,
) -> Recorder:
    repository, header = opening.repository, opening.header
    return Recorder(
        repository=repository,
        lease=opening.lease,
        operation=opening.operation,
        registry=continuation.registry,
        artifacts=ArtifactTree(
            opening.output,
            continuation.artifacts,
            excluded=exclude_control_files(opening.output),
            signatures=continuation.signatures,
        ),
        state=StateTree(None, books.anchors, books.main_module),
        environment=environment.stage,
        required=header.checkpointing == CheckpointPolicy.REQUIRED.value,
        log=log,
        observer=settings.observer,
        now=settings.now,
        resumed_from=continuation.resumed_from,
        parent=continuation.parent,
    )


def claim_output(output: Path) -> None:
    """Make an output directory with its private control directory, durably.

    Raises:
        RunStoreError: the control directory is a link (`run.control_invalid`).
    """
    require_control_directory(output)
    durable.make_directory(output, 0o777, parents=True)
    durable.make_directory(output / CONTROL_DIRECTORY, 0o700)


def new_operation(kind: str, at: str, command: tuple[str, ...]) -> OperationDraft:
    """Return a new entry for the operation log."""
    return OperationDraft(id=OperationId(secrets.token_hex(8)), kind=kind, at=at, command=command)


def _workflow_file(repository: Repository, header: RunHeader) -> Path | None:
    source = header.source
    return repository.project / parse_filename(source.path) if isinstance(source, SourceFile) else None
