"""Facts of a run for other tools, beside its header: with what it was executed, and what came out."""

import hashlib
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Final

from verdog_objects.oid import Kind, format_oid
from verdog_repo.repository import Repository
from verdog_repo.runs import RunHeader
from verdog_runtime.environment import describe_python
from verdog_runtime.fingerprint import SOURCE_DIRECTORY, Environment, decode_environment
from verdog_runtime.values import decode_neutral
from verdog_runtime.values.document import Document, describe_neutral

COMPATIBILITY_FORMAT: Final = "4"
"""Of the facts under `compatibility`. Formats up to 3 are of another runtime, whose checkpoints are files."""

_DISTRIBUTION: Final = "verdog-repo"
_PACKAGES: Final = ("verdog_objects", "verdog_repo", "verdog_runtime")
_RESULT_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What `run.json` says that the header of a run does not.

    Attributes:
        compatibility: code, environment and interpreter; empty for a run without checkpoints.
        result: the output as JSON; None until the run succeeded, and for a large one.
    """

    compatibility: Mapping[str, str] = field(default_factory=dict[str, str])
    result: Document = None


def describe_compatibility(environment: Environment) -> dict[str, str]:
    """Return facts about an environment. What decides whether a run can go on is its copy in the store."""
    facts = environment.python
    versions = {each.name: each.version for each in environment.distributions}
    source = {path: oid for path, oid in environment.files.items() if path.startswith(f"{SOURCE_DIRECTORY}/")}
    return {
        "format": COMPATIBILITY_FORMAT,
        "execution_model": facts["execution model"],
        "python": facts["version"],
        "python_implementation": facts["implementation"],
        "python_cache_tag": _name_cache(facts),
        "platform": facts["platform"],
        "runtime": versions.get(_DISTRIBUTION, "unknown"),
        "runtime_sha256": _digest_runtime(environment),
        "source_sha256": _digest(
            f"{path}\0{format_oid(oid)}" for path, oid in sorted((source or environment.files).items())
        ),
        "environment_sha256": _digest(f"{name}=={version}" for name, version in sorted(versions.items())),
    }


def describe_result(payload: bytes) -> Document:
    """Return an encoded output as JSON, or None when it is too large for a file that many read."""
    return describe_neutral(decode_neutral(payload)) if len(payload) <= _RESULT_BYTES else None


def read_facts(repository: Repository, header: RunHeader) -> RunFacts:
    """Return the facts of a run as its latest checkpoint and its header have them."""
    store, tip = repository.store, repository.tip(header.run)
    compatibility: dict[str, str] = {}
    if tip is not None:
        for oid in repository.record(tip).environments[:1]:
            compatibility = describe_compatibility(decode_environment(store.get(Kind.ENVIRONMENT, oid)))
    result = None if header.result is None else describe_result(store.get(Kind.VALUE, header.result))
    return RunFacts(compatibility=compatibility, result=result)


def _name_cache(facts: Mapping[str, str]) -> str:
    here = describe_python()
    if all(facts[name] == here[name] for name in ("implementation", "version")):
        return sys.implementation.cache_tag or ""
    return f"{facts['implementation']}-{facts['version'].replace('.', '')}"


def _digest_runtime(environment: Environment) -> str:
    """Return the digest of the runtime's own files. Where it was installed, their list has their hashes."""
    own = next((each for each in environment.distributions if each.name == _DISTRIBUTION), None)
    if own is not None and own.record is not None and _is_installed(own.version):
        return _digest([format_oid(own.record)])
    try:
        return _digest_files()
    except OSError:  # a fact for people: no run fails because its user may only execute these files
        return "unknown"


def _is_installed(version: str) -> bool:
    """Return whether the runtime lies where it was installed, and is not a checkout."""
    here = Path(__file__).parents[1]
    return os.path.isdir(here / f"{_DISTRIBUTION.replace('-', '_')}-{version}.dist-info")  # noqa: PTH112


@lru_cache(maxsize=1)
def _digest_files() -> str:
    """Return the digest of the files of a checkout. Cost: reads them all, some 20 ms, once per process."""
    lines: list[str] = []
    for name in _PACKAGES:
        for place in import_module(name).__path__:
            for path in sorted(Path(place).rglob("*.py")):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                lines.append(f"{name}/{path.relative_to(place).as_posix()}\0{content}")
    return _digest(lines)


def _digest(lines: Iterable[str]) -> str:
    text = "".join(f"{line}\n" for line in lines)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
