"""The fingerprint: which code, distributions and interpreter a run was executed with, as a record."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from verdog_objects.canonical import Json, decode_json, encode_json
from verdog_objects.errors import Corrupt, FormatUnsupported
from verdog_objects.oid import Oid, format_oid, parse_oid
from verdog_repo.fields import Fields, format_optional

FINGERPRINT_FORMAT: Final = 1
SOURCE_DIRECTORY: Final = "src"
"""The directory of a project whose files are code, whether they were loaded or not."""

_SHOWN_DIGITS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """An installed distribution.

    Attributes:
        name: normalised: lower case, with `-` between words.
        record: the digest of the list of its files with their hashes, or None when it has no such list.
    """

    name: str
    version: str
    record: Oid | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What a run was executed with.

    Attributes:
        files: the authored source: project-relative path, with `/`, to the id of its content as a blob.
        distributions: by name, in order.
        python: facts of the interpreter: implementation, version, abi and platform.
    """

    files: Mapping[str, Oid]
    distributions: tuple[Distribution, ...]
    python: Mapping[str, str]


def encode_environment(environment: Environment) -> bytes:
    """Return the canonical JSON of an environment."""
    return encode_json(
        {
            "format": FINGERPRINT_FORMAT,
            "files": {path: format_oid(oid) for path, oid in environment.files.items()},
            "distributions": [
                [each.name, each.version, format_optional(each.record)] for each in environment.distributions
            ],
            "python": dict(environment.python),
        }
    )


def decode_environment(data: bytes) -> Environment:
    """Return the environment that was encoded.

    Raises:
        FormatUnsupported: it says that it has another format.
        Corrupt: the bytes are not what `encode_environment` writes.
    """
    fields = Fields(decode_json(data), "environment")
    number = fields.integer("format")
    if number != FINGERPRINT_FORMAT:
        raise FormatUnsupported(
            f"environment of format {number}; this version knows format {FINGERPRINT_FORMAT}"
        )
    paths, facts = fields.mapping("files"), fields.mapping("python")
    files, python = Fields(paths, "environment's files"), Fields(facts, "environment's interpreter")
    for path in paths:
        if path.startswith("/") or not {"", ".", ".."}.isdisjoint(path.split("/")):
            raise Corrupt(f"environment: {path!r} is no path in a project")
    environment = Environment(
        files={path: files.oid(path) for path in paths},
        distributions=tuple(_distribution_from_json(each) for each in fields.items("distributions")),
        python={name: python.text(name) for name in facts},
    )
    fields.done()
    return environment


def compare_environments(recorded: Environment, current: Environment) -> tuple[str, ...]:
    """Return what differs, one sentence each; empty when work can go on.

    A file that is loaded now and was not when it was recorded is no difference, for code is loaded bit by
    bit; but a new file in `src` is one, for it can hide another module.

    Args:
        recorded: the environment of a checkpoint.
        current: the present one, with the present content of every file that `recorded` names.
    """
    return (
        *_compare_files(recorded.files, current.files),
        *_compare_distributions(recorded.distributions, current.distributions),
        *_compare_facts(recorded.python, current.python),
    )


def compare_recorded(before: Environment, after: Environment) -> tuple[str, ...]:
    """Return what differs between the environments of two checkpoints, one sentence each.

    Of a file that only one of them names nothing is known but that the other had not loaded it, unless it is
    in `src`, whose files are named whether they were loaded or not.
    """
    both = before.files.keys() & after.files.keys()
    known = [
        {path: oid for path, oid in each.files.items() if path in both or _is_source(path)}
        for each in (before, after)
    ]
    return compare_environments(replace(before, files=known[0]), replace(after, files=known[1]))


def _compare_files(recorded: Mapping[str, Oid], current: Mapping[str, Oid]) -> Iterator[str]:
    for path in sorted(recorded.keys() | current.keys()):
        before, now = recorded.get(path), current.get(path)
        if before == now:
            continue
        if now is None and before is not None:
            yield f"{path} is gone; it was {_shorten(before)}"
        elif before is None and now is not None:
            if _is_source(path):
                yield f"{path} is new; it is {_shorten(now)}"
        elif before is not None and now is not None:
            yield f"{path} changed from {_shorten(before)} to {_shorten(now)}"


def _compare_distributions(
    recorded: tuple[Distribution, ...], current: tuple[Distribution, ...]
) -> Iterator[str]:
    before, now = ({each.name: each for each in group} for group in (recorded, current))
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name), now.get(name)
        if old == new:
            continue
        if new is None and old is not None:
            yield f"package {name} {old.version} is not installed now"
        elif old is None and new is not None:
            yield f"package {name} {new.version} is installed now, and was not"
        elif old is not None and new is not None:
            if old.version != new.version:
                yield f"package {name} changed from version {old.version} to {new.version}"
            else:
                yield (
                    f"package {name} {old.version} has other files: "
                    f"their list changed from {_shorten(old.record)} to {_shorten(new.record)}"
                )


def _compare_facts(recorded: Mapping[str, str], current: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(recorded.keys() | current.keys()):
        old, new = recorded.get(name, "not recorded"), current.get(name, "not known")
        if old != new:
            yield f"the interpreter's {name} changed from {old} to {new}"


def _is_source(path: str) -> bool:
    return path.startswith(f"{SOURCE_DIRECTORY}/")


def _shorten(oid: Oid | None) -> str:
    return "none" if oid is None else format_oid(oid)[:_SHOWN_DIGITS]


def _distribution_from_json(value: Json) -> Distribution:
    if isinstance(value, list) and len(value) == 3:
        name, version, record = value
        if isinstance(name, str) and isinstance(version, str) and isinstance(record, str | None):
            try:
                digest = None if record is None else parse_oid(record)
            except ValueError as error:
                raise Corrupt(f"environment: {error}") from error
            return Distribution(name=name, version=version, record=digest)
    raise Corrupt("environment: a distribution is no name, version and digest")
