import linecache
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pytest

from verdog_runtime.cli import WorkflowArguments, format_params_name, parse_arguments


class Mode(Enum):
    FAST = "fast"
    SLOW = "slow"


@dataclass(frozen=True, kw_only=True)
class Place:
    city: str = "Oslo"


@dataclass(frozen=True, kw_only=True)
class Input:
    value: int = 10
    flag: bool = False
    mode: Mode = Mode.FAST
    paths: tuple[Path, ...] = ()
    some_name: str | None = None
    place: Place = Place()
    level: Literal["low", "high"] = "low"


@dataclass(frozen=True, kw_only=True)
class Needed:
    value: int


@dataclass(frozen=True, kw_only=True)
class Params:
    depth: int = 2


@dataclass(frozen=True, kw_only=True)
class Options:
    verbose: bool = False


MAIN: Any = (".", "demo.countdown.main")
TOOLS: Any = ("external/acme/tools", "acme.tools.other")
TYPES: Mapping[Any, Any] = {
    MAIN: Params,
    TOOLS: Params,
    (".", "x.y.none"): type(None),
    (".", "x.y.any"): object,
}


def parse(*words: str, **rest: Any) -> WorkflowArguments[Any, Any]:
    return parse_arguments(Input, words, **rest)


def test_flags_are_grouped_by_input_params_and_runtime() -> None:
    words = "--input.value 3 --params.main.depth 4 --params.acme.tools.other.depth 5 --runtime.verbose"
    parsed = parse(*words.split(), params_types=TYPES, runtime_options=Options)
    assert parsed == WorkflowArguments(
        input=Input(value=3),
        runtime=Options(verbose=True),
        params={MAIN: Params(depth=4), TOOLS: Params(depth=5)},
    )


def test_what_is_left_out_takes_its_default() -> None:
    parsed = parse(params_types=TYPES, runtime_options=Options)
    assert parsed == WorkflowArguments(
        input=Input(), runtime=Options(), params={MAIN: Params(), TOOLS: Params()}
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--input.flag", Input(flag=True)),
        ("--input.no-flag", Input()),
        ("--input.mode slow", Input(mode=Mode.SLOW)),
        ("--input.paths a b/c", Input(paths=(Path("a"), Path("b/c")))),
        ("--input.paths", Input()),
        ("--input.some-name z", Input(some_name="z")),
        ("--input.some_name z", Input(some_name="z")),
        ("--input.some-name None", Input()),
        ("--input.place.city Rome", Input(place=Place(city="Rome"))),
        ("--input.level high", Input(level="high")),
        ("--input.value=-3", Input(value=-3)),
    ],
)
def test_each_kind_of_field_has_its_flag(words: str, expected: Input) -> None:
    assert parse(*words.split()).input == expected


def test_an_input_that_is_no_record_has_one_flag() -> None:
    assert parse_arguments(int, ("--input", "7")).input == 7
    assert parse_arguments(int | None, ("--input", "7")).input == 7  # type: ignore[arg-type]


def test_a_silent_input_needs_no_flags() -> None:
    assert parse_arguments(type(None), ()) == WorkflowArguments(input=None, runtime=None)
    one, other = parse_arguments(object, ()).input, parse_arguments(object, ()).input
    assert type(one) is type(other) is object
    assert one is not other


def test_silent_params_have_neither_flags_nor_values() -> None:
    assert set(parse(params_types=TYPES).params) == {MAIN, TOOLS}
    assert parse().params == {}


def test_silent_options_are_none_or_an_object() -> None:
    assert parse().runtime is None
    assert parse(runtime_options=type(None)).runtime is None
    assert type(parse(runtime_options=object).runtime) is object


def test_params_that_are_no_record_take_the_default_of_their_type() -> None:
    assert parse(params_types={MAIN: int}).params == {MAIN: 0}
    assert parse("--params.main", "4", params_types={MAIN: int}).params == {MAIN: 4}


def test_params_are_returned_under_the_normal_address() -> None:
    assert parse(params_types={("./", "demo.countdown.main"): Params}).params == {MAIN: Params()}


@pytest.mark.parametrize(
    "words",
    [
        *(("--input.value", "x"), ("--input.value",), ("--input.mode", "FAST"), ("--input.level", "mid")),
        *(("--unknown",), ("stray",), ("--params.main.depth", "1")),
    ],
)
def test_a_wrong_word_exits_with_2_and_says_so_on_stderr(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(*words)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert not out
    assert words[0].removeprefix("--") in err


def test_a_missing_value_exits_with_2_and_names_the_flag(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse_arguments(Needed, (), prog="verdog run main")
    assert caught.value.code == 2
    assert "--input.value" in capsys.readouterr().err


def test_words_without_any_flags_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse_arguments(object, ("--input.value", "3"))
    assert caught.value.code == 2
    assert capsys.readouterr().err


def test_help_goes_to_stdout_and_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse("--help", params_types=TYPES, runtime_options=Options, prog="verdog run main")
    assert caught.value.code == 0
    out, err = capsys.readouterr()
    assert not err
    for text in ("verdog run main", "--input.mode {fast,slow}", "--params.main.depth", "--runtime.verbose"):
        assert text in out


@pytest.mark.parametrize("columns", [1, 5, 20])
@pytest.mark.parametrize("words", ["--help", "--unknown"])
def test_texts_come_to_an_end_on_any_terminal(columns: int, words: str) -> None:
    program = (
        "from dataclasses import make_dataclass\n"
        "from verdog_runtime.cli import parse_arguments\n"
        f"parse_arguments(make_dataclass('Input', [('value', int)]), ({words!r},), prog='verdog run main')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "COLUMNS": str(columns)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == (0 if words == "--help" else 2)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (MAIN, "main"),
        ((".", "main"), "main"),
        ((".", "demo.countdown.main__helper"), "main__helper"),
        (TOOLS, "acme.tools.other"),
        (("external/a/b/external/c/d", "c.d.main"), "a.b.c.d.main"),
    ],
)
def test_params_are_named_by_their_external_projects_and_local_id(address: Any, name: str) -> None:
    assert format_params_name(address) == name


def test_a_nested_local_id_can_be_used_as_it_is() -> None:
    nested: Any = (".", "demo.countdown.main__helper")
    parsed = parse("--params.main__helper.depth", "9", params_types={nested: Params})
    assert parsed.params == {nested: Params(depth=9)}


@pytest.mark.parametrize("path", ["lib", "external", "external/a", "external/a/b/c", "vendor/a/b"])
def test_a_project_path_is_a_chain_of_externals(path: str) -> None:
    with pytest.raises(ValueError, match=path):
        parse(params_types={(path, "a.b.main"): Params})


def test_two_params_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="'main'"):
        parse(params_types={MAIN: Params, (".", "x.y.main"): Params})
    assert parse(params_types={MAIN: Params, (".", "x.y.main"): object}).params == {MAIN: Params()}


def test_no_source_is_read_for_words_that_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(linecache, "getlines", lambda file, *rest: read.append(file) or [])
        parsed = parse_arguments(
            Needed, ("--input.value", "1"), params_types={MAIN: Params}, runtime_options=Options
        )
    assert parsed == WorkflowArguments(input=Needed(value=1), runtime=Options(), params={MAIN: Params()})
    assert read == []


def test_importing_the_module_does_not_import_tyro() -> None:
    code = "import sys, verdog_runtime.cli; assert 'tyro' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)
