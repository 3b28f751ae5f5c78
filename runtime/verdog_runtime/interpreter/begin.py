"""The beginning of a run: refuse what can be refused, write its record, then execute it."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from verdog_repo.lineage import Lineage
from verdog_repo.names import RunId, parse_run_id
from verdog_repo.runs import SourceFile, SourceModule
from verdog_runtime.declarations.graph import AnyWorkflow
from verdog_runtime.declarations.operations import ParameterAddress
from verdog_runtime.interpreter.books import NoBooks
from verdog_runtime.interpreter.commands import Fail, Finish
from verdog_runtime.interpreter.openbooks import NewRun, open_new_books
from verdog_runtime.interpreter.policies import CheckpointPolicy
from verdog_runtime.interpreter.prepare import format_output_dir, prepare_start, require_vacant
from verdog_runtime.interpreter.running import execute
from verdog_runtime.interpreter.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a caller asks of a new run.

    Attributes:
        recorded: the run is listed, with or without checkpoints. Always so unless checkpointing is off.
        source: where a command finds the workflow again; None when the caller is Python code.
        workflow: the name of the run's group; the last part of the workflow's id when None.
        command: the command line, for the operation log.
    """

    output_dir: Path
    run_id: str | None = None
    params: Mapping[ParameterAddress, object] = field(default_factory=dict[ParameterAddress, object])
    runtime_options: object = None
    checkpointing: CheckpointPolicy = CheckpointPolicy.OFF
    arguments: tuple[str, ...] = ()
    recorded: bool = False
    source: SourceFile | SourceModule | None = None
    workflow: str | None = None
    parent: Lineage | None = None
    command: tuple[str, ...] = ()


def begin_run(
    settings: Settings, definition: AnyWorkflow, input: object, request: RunRequest
) -> Finish | Fail:
    """Run a workflow from its enter port to its end. Raises as `Dispatcher.run`, but returns a failure."""
    run = RunId(str(uuid.uuid4())) if request.run_id is None else parse_run_id(request.run_id)
    prepared = prepare_start(
        definition,
        input,
        request.params,
        project_root=settings.project_root,
        limit=settings.transition_limit,
    )
    output = require_vacant(request.output_dir, settings.project_root)
    if request.checkpointing is CheckpointPolicy.OFF and not request.recorded:
        output.mkdir(parents=True, exist_ok=True)
        return execute(
            prepared.begin,
            run=run,
            output=output,
            settings=settings,
            books=NoBooks(),
            options=request.runtime_options,
        )
    new = NewRun(
        run=run,
        output_dir=format_output_dir(output, settings.project_root),
        workflow=request.workflow or definition.id.rpartition(".")[2],
        definition_id=definition.entry.definition_id,
        module=definition.entry.definition_module,
        source=request.source,
        arguments=request.arguments,
        checkpointing=request.checkpointing,
        parent=request.parent,
        command=request.command,
    )
    with open_new_books(settings, new, output, prepared.registry) as books:
        return execute(
            prepared.begin,
            run=run,
            output=output,
            settings=settings,
            books=books,
            options=request.runtime_options,
        )
