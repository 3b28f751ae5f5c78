"""The beginning of a run: refuse what can be refused, write its record, then execute it."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from verdog_repo.names import parse_run_id
from verdog_runtime.declarations.graph import AnyWorkflow
from verdog_runtime.declarations.ids import RunId
from verdog_runtime.declarations.operations import ParameterAddress
from verdog_runtime.interpreter.books import NoBooks
from verdog_runtime.interpreter.commands import Fail, Finish
from verdog_runtime.interpreter.policies import CheckpointPolicy
from verdog_runtime.interpreter.prepare import prepare_start, require_vacant
from verdog_runtime.interpreter.running import execute
from verdog_runtime.interpreter.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a caller asks of a new run."""

    output_dir: Path
    run_id: str | None = None
    params: Mapping[ParameterAddress, object] = field(default_factory=dict[ParameterAddress, object])
    runtime_options: object = None
    checkpointing: CheckpointPolicy = CheckpointPolicy.OFF
    arguments: tuple[str, ...] = ()


def begin_run(
    settings: Settings, definition: AnyWorkflow, input: object, request: RunRequest
) -> Finish | Fail:
    """Run a workflow from its enter port to its end. Raises as `Dispatcher.run` does, but returns a failure."""
    prepared = prepare_start(
        definition,
        input,
        request.params,
        project_root=settings.project_root,
        limit=settings.transition_limit,
    )
    run_id = RunId(str(uuid.uuid4()) if request.run_id is None else parse_run_id(request.run_id))
    output = require_vacant(request.output_dir)
    output.mkdir(parents=True, exist_ok=True)
    return execute(prepared.begin, run_id=run_id, output=output, settings=settings, books=NoBooks())
