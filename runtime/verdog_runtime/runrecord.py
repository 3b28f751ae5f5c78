"""The run record: `run.json` in an output directory, a derived copy of the run's header for other tools."""

import importlib.metadata
import json
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

from verdog_objects import durable
from verdog_repo.lineage import Lineage
from verdog_repo.runs import RunHeader
from verdog_runtime.environment import EXECUTION_MODEL, describe_python
from verdog_runtime.layout import CONTROL_DIRECTORY

RUN_MANIFEST: Final = "run.json"
SCHEMA_VERSION: Final = 2
COMPATIBILITY_FORMAT: Final = "4"
"""Of the facts under `compatibility`. Hashes of sources are not among them, unlike in formats up to 3."""

_DISTRIBUTION: Final = "verdog-repo"
_OFF: Final = "off"


def write_run_record(output: Path, header: RunHeader, project_root: Path) -> None:
    """Write `run.json` into the control directory of an output directory, which exists.

    Args:
        output: the output directory, absolute.
        header: what it says.
        project_root: the project whose store holds the run.

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
        "compatibility": {} if header.checkpointing == _OFF else describe_compatibility(),
    }
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    path = output / CONTROL_DIRECTORY / RUN_MANIFEST
    durable.write_file(path, text.encode("utf-8", "surrogateescape"))


@lru_cache(maxsize=1)
def describe_compatibility() -> dict[str, str]:
    """Return facts of this process for other tools. What decides is the environment in the store."""
    facts = describe_python()
    return {
        "format": COMPATIBILITY_FORMAT,
        "execution_model": EXECUTION_MODEL,
        "python": facts["version"],
        "python_implementation": facts["implementation"],
        "python_cache_tag": sys.implementation.cache_tag or "",
        "platform": facts["platform"],
        "runtime": _find_version(),
    }


def _find_version() -> str:
    try:
        return importlib.metadata.version(_DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _format_parent(parent: Lineage | None) -> dict[str, object] | None:
    if parent is None:
        return None
    return {
        "run_id": parent.run,
        "operation": parent.operation.value,
        "checkpoint": parent.checkpoint,
        "arguments": parent.arguments.value,
    }
