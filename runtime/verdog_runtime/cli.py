"""Typed arguments: a workflow's input, options and params from the words of a command line."""

import contextlib
import dataclasses
import os
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Annotated, Generic, cast

from typing_extensions import TypeVar

from verdog_runtime.declarations.ids import ParameterAddress
from verdog_runtime.declarations.operations import ParameterType
from verdog_runtime.interpreter.params import format_address, normalize_address

InputT = TypeVar("InputT")
RuntimeOptionsT = TypeVar("RuntimeOptionsT")

_Field = tuple[str, object] | tuple[str, object, object]

_EXTERNAL = "external"
_LEAST_COLUMNS = 20
_NO_PARAMS: Mapping[ParameterAddress, ParameterType] = {}


def _no_values() -> dict[ParameterAddress, object]:
    return {}


@dataclasses.dataclass(frozen=True, kw_only=True)
class WorkflowArguments(Generic[InputT, RuntimeOptionsT]):
    """What the words of a command line mean.

    Attributes:
        input: the workflow's input.
        runtime: its options, or None if it has none.
        params: the Params of each graph that has flags.
    """

    input: InputT
    runtime: RuntimeOptionsT
    params: Mapping[ParameterAddress, object] = dataclasses.field(default_factory=_no_values)


def parse_arguments(
    input_type: ParameterType,
    arguments: tuple[str, ...],
    /,
    *,
    params_types: Mapping[ParameterAddress, ParameterType] = _NO_PARAMS,
    runtime_options: type | None = None,
    prog: str | None = None,
) -> WorkflowArguments[object, object]:
    """Return the values that the words of a command line give.

    Flags are `--input.<field>`, `--params.<name>.<field>` and `--runtime.<field>`; what is left out takes its
    default. Types NoneType and `object` have no flags.

    Args:
        input_type: the type of the input.
        arguments: the words.
        params_types: the types of Params by address.
        runtime_options: the type of the options, or None if there are none.
        prog: the name of the command in usage texts.

    Raises:
        SystemExit: 2 with a text on stderr if a value is missing or wrong, 0 after `--help`.
        ValueError: a project path is no chain of `external/<space>/<name>`, or two Params have one name.
    """
    import tyro

    names = name_params(params_types)
    fields: list[tuple[str, object]] = []
    if not _is_silent(input_type):
        fields.append(("input", input_type))
    if names:
        params = [_params_field(position, *named) for position, named in enumerate(names.values())]
        fields.append(("params", _make_record("Params", params)))
    if not _is_silent(runtime_options):
        fields.append(("runtime", runtime_options))
    with _least_width():
        parsed = tyro.cli(
            _make_record("Arguments", fields),
            args=arguments,
            prog=prog,
            config=(tyro.conf.EnumChoicesFromValues,),
        )
    given: object = getattr(parsed, "params", None)
    return WorkflowArguments(
        input=getattr(parsed, "input", _silent_value(input_type)),
        runtime=getattr(parsed, "runtime", _silent_value(runtime_options)),
        params={address: getattr(given, _attribute(position)) for position, address in enumerate(names)},
    )


@contextlib.contextmanager
def _least_width() -> Generator[None]:
    """Let no terminal be so narrow that tyro, which wraps texts inside of frames, never comes to an end."""
    if shutil.get_terminal_size().columns >= _LEAST_COLUMNS:
        yield
        return
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(_LEAST_COLUMNS)
    try:
        yield
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def name_params(
    params_types: Mapping[ParameterAddress, ParameterType],
) -> dict[ParameterAddress, tuple[str, ParameterType]]:
    """Return the flag name and the type of each address whose Params have flags.

    Raises:
        TypeError: a key is no address.
        ValueError: a project path is no chain of `external/<space>/<name>`, or two Params have one name.
    """
    found: dict[ParameterAddress, tuple[str, ParameterType]] = {}
    owners: dict[str, ParameterAddress] = {}
    for given, kind in params_types.items():
        if _is_silent(kind):
            continue
        address = normalize_address(given)
        name = format_params_name(address)
        if name in owners:
            both = f"{format_address(owners[name])} and {format_address(address)}"
            raise ValueError(f"the params of {both} have the same name {name!r}")
        owners[name] = address
        found[address] = (name, kind)
    return found


def format_params_name(address: ParameterAddress) -> str:
    """Return the name of Params in flags: `<space>.<name>.` for each external project, then the local id.

    Raises:
        ValueError: the project path is no chain of `external/<space>/<name>`.
    """
    path, graph = address
    parts = [] if path == "." else path.split("/")
    chain = [parts[start : start + 3] for start in range(0, len(parts), 3)]
    if any(len(link) != 3 or link[0] != _EXTERNAL for link in chain):
        raise ValueError(f"the project path {path!r} is no chain of {_EXTERNAL}/<space>/<name>")
    return ".".join([part for link in chain for part in link[1:]] + [graph.rpartition(".")[2]])


def _make_record(name: str, fields: Sequence[_Field]) -> type[object]:
    """Return a dataclass whose source nobody looks for.

    It has none, and tyro takes ten milliseconds to find that out, unless its module is one without a file.
    """
    record: type[object] = dataclasses.make_dataclass(name, fields, frozen=True, kw_only=True)
    record.__module__ = "builtins"
    return record


def _params_field(position: int, name: str, kind: ParameterType) -> tuple[str, object, object]:
    from tyro.conf import arg

    field: object = dataclasses.field(kw_only=True)
    if not dataclasses.is_dataclass(kind):
        # A dataclass gives the defaults of its fields; anything else has the one that a run would make.
        try:
            value = cast("Callable[[], object]", kind)()
        except TypeError:
            pass
        else:
            field = dataclasses.field(default_factory=lambda: value, kw_only=True)
    return _attribute(position), Annotated[kind, arg(name=name)], field


def _attribute(position: int) -> str:
    return f"params_{position}"


def _is_silent(kind: object) -> bool:
    """Return whether values of a type say nothing, so that no flag is made for them."""
    return kind is None or kind is type(None) or kind is object


def _silent_value(kind: object) -> object:
    return object() if kind is object else None
