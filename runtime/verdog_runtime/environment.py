"""The environment: the fingerprint of what this process executes a run with."""

import platform
import sys
from collections.abc import Iterable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from verdog_objects.oid import Kind, Oid
from verdog_objects.store import ObjectWriter
from verdog_runtime.distributions import list_distributions
from verdog_runtime.fingerprint import Environment, compare_environments, encode_environment
from verdog_runtime.sourcefiles import SourceFiles

EXECUTION_MODEL = "1"
"""Changes with the meaning of what the interpreter stores. Only equal models read each other's runs."""


class EnvironmentTracker:
    """Fingerprints a run's code as it is loaded. Used by one thread.

    A file counts as it was when it was first seen: what runs is what was loaded then.
    """

    def __init__(self, project: Path, workflow_file: Path | None = None) -> None:
        """Take the first fingerprint.

        Args:
            project: the project's directory.
            workflow_file: the file of a workflow in one file.
        """
        self._sources = SourceFiles(project.absolute())
        self._sources.add_tree()
        if workflow_file is not None:
            self._sources.add_file(str(workflow_file.absolute()))
        self._sources.add_modules()
        self._staged: Oid | None = None

    def environment(self) -> Environment:
        """Return the environment as it is by now."""
        self._sources.add_modules()
        return self._describe()

    def stage(self, writer: ObjectWriter) -> Oid:
        """Return the id of the environment as it is by now, staging the object if it is new.

        Cost: a comparison of two numbers when no module was loaded since the last call.
        """
        if self._sources.add_modules() or self._staged is None:
            self._staged = writer.put(Kind.ENVIRONMENT, encode_environment(self._describe()))
        return self._staged

    def _describe(self) -> Environment:
        return Environment(
            files=dict(self._sources.found), distributions=list_distributions(), python=describe_python()
        )


def fingerprint(project: Path, workflow_file: Path | None = None, *, also: Iterable[str] = ()) -> Environment:
    """Return the environment of this process.

    Args:
        project: the project's directory.
        workflow_file: the file of a workflow in one file.
        also: project-relative paths of further files, which need not be loaded.
    """
    sources = SourceFiles(project.absolute())
    sources.add_tree()
    if workflow_file is not None:
        sources.add_file(str(workflow_file.absolute()))
    sources.add_modules()
    for path in also:
        sources.add_named(path)
    return Environment(files=sources.found, distributions=list_distributions(), python=describe_python())


def check_environment(
    recorded: Environment, project: Path, workflow_file: Path | None = None
) -> tuple[str, ...]:
    """Return what differs between a recorded environment and the present one, one sentence each."""
    return compare_environments(recorded, fingerprint(project, workflow_file, also=recorded.files))


def describe_python() -> dict[str, str]:
    """Return the facts of this interpreter that stored values and compiled code depend on."""
    return {
        "implementation": sys.implementation.name,
        "version": f"{sys.version_info.major}.{sys.version_info.minor}",
        "abi": EXTENSION_SUFFIXES[0].strip(".").rpartition(".")[0] if EXTENSION_SUFFIXES else "none",
        "platform": f"{sys.platform}-{platform.machine()}",
        "execution model": EXECUTION_MODEL,
    }
