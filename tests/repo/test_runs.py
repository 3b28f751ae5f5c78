from dataclasses import fields, replace

import pytest

from tests.repo.samples import at, header
from verdog_objects.canonical import decode_json, encode_json
from verdog_objects.errors import Corrupt, FormatUnsupported, InvalidInput
from verdog_objects.oid import Oid
from verdog_repo.lineage import ArgumentsKind, Lineage, LineageKind
from verdog_repo.names import RunId
from verdog_repo.runs import (
    RunError,
    RunHeader,
    RunStatus,
    SourceFile,
    SourceModule,
    decode_header,
    encode_header,
)

PLAIN = header("run")
FULL = RunHeader(
    run=RunId("run"),
    workflow="other",
    definition_id="other.main",
    module="other",
    checkpointing="required",
    status=RunStatus.FAILED,
    started_at=at(1),
    updated_at=at(2),
    output_dir="/somewhere/else",
    source=SourceFile("census.py", "census"),
    arguments=("--input.value", "3"),
    result=Oid(b"\1" * 32),
    result_text="Result(3)",
    error=RunError(type="ValueError", message="no\nvalue", traceback="Traceback ..."),
    parent=Lineage(
        run=RunId("parent"),
        operation=LineageKind.RESTART,
        checkpoint=None,
        arguments=ArgumentsKind.OVERRIDDEN,
    ),
    trusted=True,
    changed_code=("src/census.py changed",),
)


@pytest.mark.parametrize("sample", [PLAIN, FULL, replace(FULL, source=SourceModule("census", "main"))])
def test_a_header_survives_its_bytes(sample: RunHeader) -> None:
    assert decode_header(encode_header(sample)) == sample


def test_the_full_sample_differs_from_the_plain_one_in_every_field_that_can() -> None:
    same = {each.name for each in fields(PLAIN) if getattr(PLAIN, each.name) == getattr(FULL, each.name)}
    assert same == {"run"}


@pytest.mark.parametrize("name", [each.name for each in fields(RunHeader)] + ["format"])
def test_a_missing_key_is_corrupt(name: str) -> None:
    value = decode_json(encode_header(FULL))
    assert isinstance(value, dict)
    del value[name]
    with pytest.raises(Corrupt, match=name):
        decode_header(encode_json(value))


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("zz", 1),
        ("source", {"path": "x"}),
        ("source", []),
        ("status", "waiting"),
        ("error", {}),
        ("run", "a/b"),
        ("started_at", "now"),
        ("arguments", [1]),
        ("trusted", None),
    ],
)
def test_a_value_that_cannot_be_is_corrupt(key: str, wrong: object) -> None:
    value = decode_json(encode_header(FULL))
    assert isinstance(value, dict)
    value[key] = wrong  # type: ignore[assignment]
    with pytest.raises(Corrupt):
        decode_header(encode_json(value))


def test_another_format_is_unsupported() -> None:
    with pytest.raises(FormatUnsupported):
        decode_header(encode_header(PLAIN).replace(b'"format":1', b'"format":9'))


def test_a_fork_names_its_checkpoint() -> None:
    with pytest.raises(ValueError):
        Lineage(
            run=RunId("a"), operation=LineageKind.FORK, checkpoint=None, arguments=ArgumentsKind.CHECKPOINT
        )


def test_arguments_that_could_not_be_read_again_are_refused() -> None:
    with pytest.raises(InvalidInput, match="arguments of run run must be texts"):
        replace(PLAIN, arguments=(1,))  # type: ignore[arg-type]
