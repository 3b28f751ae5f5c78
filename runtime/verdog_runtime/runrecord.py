"""The run record: `run.json` in an output directory, a derived copy of the run's header for other tools."""

import json
from pathlib import Path
from typing import Final

from verdog_objects import durable
from verdog_repo.lineage import Lineage
from verdog_repo.runs import RunHeader
from verdog_runtime.layout import CONTROL_DIRECTORY
from verdog_runtime.runfacts import RunFacts

RUN_MANIFEST: Final = "run.json"
SCHEMA_VERSION: Final = 2


def write_run_record(output: Path, header: RunHeader, project_root: Path, facts: RunFacts) -> None:
    """Write `run.json` into the control directory of an output directory, which exists.

    Args:
        output: the output directory, absolute.
        header: what it says.
        project_root: the project whose store holds the run.
        facts: what it says besides.

    Durability: the old record or the new one, never a part; the new one once the call returned.
    """
    document: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "id": header.run,
        "project_root": str(project_root.absolute()),
        "workflow": {
            "id": header.workflow_id,
            "definition_id": header.definition_id,
            "module": header.module,
        },
        "status": header.status.value,
        "started_at": header.started_at,
        "updated_at": header.updated_at,
        "output_dir": str(output.absolute()),
        "launch": {
            "workflow_arguments": list(header.arguments),
            "checkpointing": header.checkpointing,
        },
        "parent": _format_parent(header.parent),
        "compatibility": dict(facts.compatibility),
        "result": facts.result,
        "result_text": header.result_text,
        "error": None
        if header.error is None
        else {"type": header.error.type, "message": header.error.message},
    }
    path = output / CONTROL_DIRECTORY / RUN_MANIFEST
    durable.write_file(path, _encode(document))


def _encode(document: dict[str, object]) -> bytes:
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate in a result
        return json.dumps(document, indent=2, sort_keys=True).encode() + b"\n"


def _format_parent(parent: Lineage | None) -> dict[str, object] | None:
    if parent is None:
        return None
    return {
        "run_id": parent.run,
        "operation": parent.operation.value,
        "checkpoint": parent.checkpoint,
        "arguments": parent.arguments.value,
    }
