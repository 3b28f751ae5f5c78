"""Distributions: what is installed where this interpreter looks for modules."""

import importlib.metadata
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from verdog_objects.oid import Kind, Oid, compute_oid
from verdog_runtime.fingerprint import Distribution

_INFO_SUFFIX = ".dist-info"
_SEPARATORS = re.compile(r"[-_.]+")
_LOCAL_PLACES = (b"../", b"/", b"__editable__")
_LOCAL_FILES = (b"/INSTALLER,", b"/REQUESTED,", b"/RECORD,", b"/direct_url.json,", b"/uv_cache.json,")


def list_distributions() -> tuple[Distribution, ...]:
    """Return the installed distributions, by name. Where a name is found twice, the first one counts.

    Cost: reads each distribution's list of files, some 10 ms for a hundred, once per directory and process.
    """
    found: dict[str, Distribution] = {}
    for directory in dict.fromkeys(sys.path):
        for each in _read_directory(os.path.abspath(directory)):  # noqa: PTH100
            found.setdefault(each.name, each)
    return tuple(found[name] for name in sorted(found))


@cache
def _read_directory(directory: str) -> tuple[Distribution, ...]:
    return tuple(_scan(directory))


def _scan(directory: str) -> Iterator[Distribution]:
    try:
        names = sorted(os.listdir(directory))  # noqa: PTH208
    except OSError:
        return
    for entry in names:
        if entry.endswith(_INFO_SUFFIX):
            name, _, version = entry.removesuffix(_INFO_SUFFIX).partition("-")
            record = _digest_record(f"{directory}/{entry}/RECORD")
            yield Distribution(name=_normalise(name), version=version, record=record)
        elif entry.endswith(".egg-info"):
            yield from _read_old(f"{directory}/{entry}")


def _digest_record(path: str) -> Oid | None:
    """Return the digest of what a list of files says of the files that were shipped.

    What an installer adds differs from machine to machine: scripts, byte code, notes about the installation.
    """
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError:
        return None
    shipped = [
        line
        for line in lines
        if b"__pycache__/" not in line
        and not line.startswith(_LOCAL_PLACES)
        and not (b".dist-info/" in line and any(name in line for name in _LOCAL_FILES))
    ]
    return compute_oid(Kind.BLOB, b"\n".join(sorted(shipped)))


def _read_old(path: str) -> Iterator[Distribution]:
    """Yield the distribution of an old-style directory or file, whose name does not say its version."""
    try:
        found = importlib.metadata.Distribution.at(path)
        name, version = found.metadata["Name"], found.version
    except Exception:
        return
    if name and version:
        yield Distribution(name=_normalise(name), version=version, record=None)


def _normalise(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()
