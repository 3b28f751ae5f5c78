"""Finding and loading the workflow that a person or a run names."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from verdog_objects.errors import Ambiguous, InvalidInput, NotFound
from verdog_repo.runs import SourceFile, SourceModule
from verdog_runtime.interpreter import Dispatcher
from verdog_runtime.sources import configure_workflow, list_local_ids, load_workflow, reload_workflow

FLOW = """\
from dataclasses import dataclass
from verdog_runtime.authoring import Success, Workflow

@dataclass(frozen=True)
class Count:
    value: int = 10

flow = Workflow("countdown", input=Count, output=Count)
flow.exit.on(flow.enter)
"""

SECOND = """
second = Workflow("second", input=Count, output=Count)
second.exit.on(second.enter)
"""


@pytest.fixture(autouse=True)
def clean_imports() -> Iterator[None]:
    """Forget what a test imported, so that each project is the only one of its process."""
    modules, path = dict(sys.modules), list(sys.path)
    yield
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]
    sys.path[:] = path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "flows").mkdir(parents=True)
    (root / "pyproject.toml").touch()
    return root


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def list_files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))


# Files.


def test_a_file_is_loaded_with_everything_a_run_needs(project: Path) -> None:
    write(project / "flows/count.py", FLOW)
    loaded = load_workflow("flows/count.py", cwd=project)
    assert loaded.definition.id == "verdog_file.flows.count.countdown"
    assert loaded.project_root == project
    assert loaded.source == SourceFile(path="flows/count.py", name="countdown")
    assert loaded.local_id == "countdown"
    assert (loaded.options_type, loaded.configure) == (None, None)
    assert loaded.params_types is loaded.definition.params_types


def test_a_file_belongs_to_its_own_project(project: Path, tmp_path: Path) -> None:
    write(project / "flows/count.py", FLOW)
    other = tmp_path / "other"
    write(other / "project.json", "{}")
    loaded = load_workflow("../project/flows/count.py", cwd=other, project=other)
    assert loaded.project_root == project
    assert loaded.source == SourceFile(path="flows/count.py", name="countdown")


def test_the_id_of_a_file_does_not_depend_on_where_the_project_is(project: Path, tmp_path: Path) -> None:
    write(project / "flows/count.py", FLOW)
    before = load_workflow("flows/count.py", cwd=project).definition.id
    moved = project.rename(tmp_path / "moved")
    assert load_workflow("count.py", cwd=moved / "flows").definition.id == before


def test_classes_of_a_file_travel_by_reference(project: Path) -> None:
    write(project / "count.py", FLOW)
    loaded = load_workflow("count.py", cwd=project)
    value = configure_workflow(loaded, ["--input.value", "3"]).input
    assert type(value).__module__ == "verdog_file.count"
    assert pickle.loads(pickle.dumps(value)) == value


def test_a_file_runs_like_a_script_but_is_not_main(project: Path) -> None:
    write(project / "flows/beside_it.py", "VALUE = 7\n")
    write(
        project / "flows/count.py",
        FLOW + "import beside_it\nfrom pathlib import Path\n"
        "place = Path(__file__)\nif __name__ == '__main__':\n    raise SystemExit('ran')\n",
    )
    load_workflow("flows/count.py", cwd=project)
    module = sys.modules["verdog_file.flows.count"]
    assert vars(module)["place"] == project / "flows/count.py"
    assert sys.path[0] == str(project / "flows")


def test_a_file_that_has_not_changed_is_not_executed_again(project: Path) -> None:
    write(project / "count.py", FLOW)
    first = load_workflow("count.py", cwd=project)
    assert load_workflow("count.py", cwd=project).definition is first.definition


def test_a_file_that_has_changed_is_executed_again_and_earlier_definitions_stay(project: Path) -> None:
    import importlib

    file = write(project / "count.py", FLOW)
    first = load_workflow("count.py", cwd=project).definition
    file.write_text(FLOW.replace("value: int = 10", "value: int = 20"))
    second = load_workflow("count.py", cwd=project)
    assert configure_workflow(second, []).input.value == 20  # pyright: ignore
    for definition in (first, second.definition):
        loaded = importlib.import_module(definition.entry.definition_module).definition()
        assert loaded.graph.id == definition.id
    assert first.entry.definition_module != second.definition.entry.definition_module


def test_loading_writes_nothing(project: Path) -> None:
    write(project / "beside_it_too.py", "VALUE = 7\n")
    write(project / "count.py", FLOW + "import beside_it_too\n")
    before = list_files(project)
    load_workflow("count.py", cwd=project)
    assert list_files(project) == before


@pytest.mark.parametrize("name", ["flow", "countdown"])
def test_a_workflow_is_named_by_its_variable_or_its_own_name(project: Path, name: str) -> None:
    write(project / "count.py", FLOW + SECOND)
    loaded = load_workflow(f"count.py:{name}", cwd=project)
    assert loaded.source == SourceFile(path="count.py", name="countdown")


def test_a_variable_comes_before_a_name(project: Path) -> None:
    write(
        project / "count.py",
        FLOW + "countdown = " + SECOND.lstrip().replace("second.", "countdown.").removeprefix("second = "),
    )
    loaded = load_workflow("count.py:countdown", cwd=project)
    assert loaded.local_id == "second"
    first = load_workflow("count.py:flow", cwd=project)
    assert first.source == SourceFile(path="count.py", name="flow")
    assert reload_workflow(first.source, project).local_id == "countdown"


def test_an_imported_workflow_does_not_compete_with_a_files_own(project: Path) -> None:
    write(project / "helpers_of_it.py", FLOW)
    write(project / "both.py", "from helpers_of_it import flow, Count, Workflow\n" + SECOND)
    assert load_workflow("both.py", cwd=project).local_id == "second"


def test_an_imported_workflow_is_found_where_there_is_no_other(project: Path) -> None:
    write(project / "helpers_of_it.py", FLOW)
    write(project / "only.py", "from helpers_of_it import flow\n")
    assert load_workflow("only.py", cwd=project).local_id == "countdown"


def test_a_file_with_several_workflows_lists_them(project: Path) -> None:
    write(project / "count.py", FLOW + SECOND)
    with pytest.raises(Ambiguous, match=r"several workflows; add one of: :flow, :second") as caught:
        load_workflow("count.py", cwd=project)
    assert caught.value.candidates == ("count.py:flow", "count.py:second")


def test_a_file_without_a_workflow_says_so(project: Path) -> None:
    write(project / "empty.py", "x = 1\n")
    with pytest.raises(InvalidInput, match=r"^empty\.py holds no workflow"):
        load_workflow("empty.py", cwd=project)


def test_a_name_that_is_no_workflow_lists_those_that_are(project: Path) -> None:
    write(project / "count.py", FLOW)
    with pytest.raises(InvalidInput, match=r"'Count' in count\.py is no workflow; workflows: flow"):
        load_workflow("count.py:Count", cwd=project)
    with pytest.raises(NotFound, match=r"no 'other' in count\.py; workflows: flow"):
        load_workflow("count.py:other", cwd=project)


def test_a_missing_file_lists_the_files_with_workflows(project: Path) -> None:
    write(project / "count.py", FLOW)
    write(project / "unrelated.py", "")
    with pytest.raises(NotFound, match=r"no file cuont\.py; files with workflows: count\.py$"):
        load_workflow("cuont.py", cwd=project)


@pytest.mark.parametrize("text", ["~nobody-at-all/x.py", "x\0.py", f"{'x' * 300}.py", "\udc80.py"])
def test_a_strange_path_is_not_found(project: Path, text: str) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        load_workflow(text, cwd=project)


def test_a_pipe_is_not_read(project: Path) -> None:
    os.mkfifo(project / "pipe.py")
    with pytest.raises(NotFound, match=r"no file pipe\.py"):
        load_workflow("pipe.py", cwd=project)
    with pytest.raises(NotFound, match=r"no file pipe\.py"):
        reload_workflow(SourceFile(path="pipe.py", name="flow"), project)


def test_a_directory_is_no_workflow(project: Path) -> None:
    with pytest.raises(NotFound, match="no file flows/"):
        load_workflow("flows/", cwd=project)


FAILURES = {
    "x = 1\nraise ValueError('bad luck')\n": "wrong.py:2: wrong.py cannot be loaded: ValueError: bad luck",
    "import no_such_module_here\n": "wrong.py:1: wrong.py cannot be loaded: "
    "ModuleNotFoundError: No module named 'no_such_module_here'",
    "x = (\n": "wrong.py:1: wrong.py cannot be loaded: SyntaxError: '(' was never closed",
    "import sys\nsys.exit(3)\n": "wrong.py:2: wrong.py cannot be loaded: SystemExit: 3",
    "def f():\n    return int('x')\n\nf()\n": "wrong.py:2: wrong.py cannot be loaded: "
    "ValueError: invalid literal for int() with base 10: 'x'",
    "import json\njson.loads('{')\n": "wrong.py:2: wrong.py cannot be loaded: JSONDecodeError: "
    "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    "assert False\n": "wrong.py:1: wrong.py cannot be loaded: AssertionError",
    "from broken_beside import x\n": "broken_beside.py:3: wrong.py cannot be loaded: "
    "ZeroDivisionError: division by zero",
    "from . import sibling\n": "wrong.py:1: wrong.py cannot be loaded: ImportError: "
    "attempted relative import with no known parent package",
}


@pytest.mark.parametrize("text", FAILURES)
def test_a_file_that_fails_is_told_by_the_authors_line(project: Path, text: str) -> None:
    write(project / "broken_beside.py", "x = 1\n\nx / 0\n")
    write(project / "wrong.py", text)
    files, modules, path = list_files(project), set(sys.modules), list(sys.path)
    with pytest.raises(InvalidInput) as caught:
        load_workflow("wrong.py", cwd=project)
    assert str(caught.value) == FAILURES[text]
    assert list_files(project) == files
    assert not {name for name in set(sys.modules) - modules if name.startswith("verdog_file.")}
    assert sys.path == path


def test_the_cause_of_a_failure_begins_in_the_authors_file(project: Path) -> None:
    write(project / "wrong.py", "raise ValueError('bad luck')\n")
    with pytest.raises(InvalidInput) as caught:
        load_workflow("wrong.py", cwd=project)
    cause = caught.value.__cause__
    assert isinstance(cause, ValueError) and cause.__traceback__ is not None
    assert cause.__traceback__.tb_frame.f_code.co_filename == str(project / "wrong.py")


def test_a_file_that_is_no_text_is_refused(project: Path) -> None:
    (project / "wrong.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match=r"^wrong\.py.* cannot be loaded: SyntaxError"):
        load_workflow("wrong.py", cwd=project)


# Modules.


def test_a_module_is_loaded_from_the_projects_sources(project: Path) -> None:
    write(project / "src/shop/__init__.py", "")
    write(project / "src/shop/flows.py", FLOW + SECOND)
    loaded = load_workflow("shop.flows:second", cwd=project)
    assert loaded.definition.id == "verdog_module.shop.flows.second"
    assert loaded.source == SourceModule(module="shop.flows", name="second")
    assert reload_workflow(loaded.source, project).definition is loaded.definition


def test_a_module_that_is_not_there_is_not_found(project: Path) -> None:
    write(project / "count.py", FLOW)
    with pytest.raises(NotFound, match=r"no module 'nowhere\.flows' .*; files with workflows: count\.py"):
        load_workflow("nowhere.flows", cwd=project)


def test_a_module_that_needs_another_that_is_not_there_is_told_by_its_line(project: Path) -> None:
    write(project / "src/shop_two/__init__.py", "")
    write(project / "src/shop_two/flows.py", "import no_such_module_here\n")
    with pytest.raises(InvalidInput, match=r"^src/shop_two/flows\.py:1: .*ModuleNotFoundError"):
        load_workflow("shop_two.flows", cwd=project)


@pytest.mark.parametrize("text", ["a b", "a..b", "", ":", "1x", "x-y:z"])
def test_a_text_that_is_no_module_is_not_found(project: Path, text: str) -> None:
    with pytest.raises(NotFound, match="is no workflow, file or module"):
        load_workflow(text, cwd=project)


# Generated projects.

GENERATED = """\
from dataclasses import dataclass
from functools import cache
from verdog_runtime.declarations import SubroutineCall, WorkflowConfiguration, WorkflowDefinition

@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    turns: int = 2

@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeOptions:
    fast: bool = False

CHOSEN = []

def configure(options, /):
    CHOSEN.append(options)
    return WorkflowConfiguration()

@cache
def definition():
    return WorkflowDefinition(id="toy.proj.{name}", input_type=Input, configuration=WorkflowConfiguration(),
        entry=SubroutineCall(definition_id="toy.proj.{name}", definition_module="toy.proj.subroutines",
            params_types={{}}, profile_arguments={{}}, session_arguments={{}}))
"""


def write_generated(project: Path, *names: str) -> None:
    write(project / "project.json", '{"package": "toy.proj"}')
    write(project / "src/toy/proj/__init__.py", "")
    for name in names:
        *owners, local = name.split("__")
        place = project / "src/toy/proj" / "/".join(f"subroutines/{owner}" for owner in owners)
        write(place / f"workflows/{local}/__init__.py", GENERATED.format(name=name))


def test_a_workflow_of_a_generated_project_is_named_by_its_id(project: Path) -> None:
    write_generated(project, "main", "other")
    loaded = load_workflow("other", cwd=project / "src")
    assert loaded.definition.id == "toy.proj.other"
    assert loaded.local_id == "other"
    assert loaded.source == SourceModule(module="toy.proj.workflows.other", name="definition")
    assert reload_workflow(loaded.source, project).definition is loaded.definition


def test_a_generated_workflow_is_configured_by_typed_arguments(project: Path) -> None:
    write_generated(project, "main")
    loaded = load_workflow(None, cwd=project)
    configured = configure_workflow(loaded, ["--input.turns", "5", "--runtime.fast"])
    assert configured.input.turns == 5  # pyright: ignore
    assert configured.runtime_options.fast is True  # pyright: ignore
    assert configured.definition.id == "toy.proj.main"


def test_the_only_root_workflow_is_the_default(project: Path) -> None:
    write_generated(project, "single", "single__nested")
    assert list_local_ids(project) == ["single", "single__nested"]
    assert load_workflow(None, cwd=project).local_id == "single"


def test_main_is_the_default_among_several(project: Path) -> None:
    write_generated(project, "other", "main")
    assert load_workflow(None, cwd=project).local_id == "main"


def test_without_a_default_the_workflows_are_listed(project: Path) -> None:
    write_generated(project, "one", "two")
    with pytest.raises(Ambiguous, match="workflows: one, two"):
        load_workflow(None, cwd=project)


def test_without_a_generated_project_a_workflow_must_be_named(project: Path) -> None:
    write(project / "count.py", FLOW)
    with pytest.raises(NotFound, match=r"files with workflows: count\.py"):
        load_workflow(None, cwd=project)


def test_an_unknown_id_lists_the_workflows(project: Path) -> None:
    write_generated(project, "one", "two")
    with pytest.raises(NotFound, match=r"workflows: one, two"):
        load_workflow("three", cwd=project)


def test_a_nested_workflow_is_named_by_its_whole_id(project: Path) -> None:
    write_generated(project, "main", "main__helper__inner")
    loaded = load_workflow("main__helper__inner", cwd=project)
    assert loaded.source == SourceModule(
        module="toy.proj.subroutines.main.subroutines.helper.workflows.inner", name="definition"
    )


@pytest.mark.parametrize("text", ["{", "[" * 100_000])
def test_a_damaged_project_file_is_named(project: Path, text: str) -> None:
    write(project / "project.json", text)
    with pytest.raises(InvalidInput, match=r"project\.json cannot be read"):
        load_workflow(None, cwd=project)


# Arguments.


def test_arguments_are_checked_against_the_input(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project / "count.py", FLOW)
    loaded = load_workflow("count.py", cwd=project)
    with pytest.raises(SystemExit) as caught:
        configure_workflow(loaded, ["--input.value", "x"])
    assert caught.value.code == 2
    with pytest.raises(SystemExit):
        configure_workflow(loaded, ["--help"])
    assert "usage: verdog run count.py:countdown -- " in capsys.readouterr().out


OPTIONS = """
from verdog_runtime.authoring import WorkflowConfiguration

@dataclass(frozen=True)
class Options:
    broken: bool = False

class Echo:
    session_provider = "echo"
    def __call__(self, request): ...

def configure(options):
    if options.broken:
        raise ValueError("no such model")
    return WorkflowConfiguration(profile_arguments={"writer": Echo()})

more = Workflow("more", input=Count, output=Count)
more.exit.on(more.enter)
writer = more.profile("writer")
more.options(Options, configure)
"""


def test_options_configure_the_profiles(project: Path) -> None:
    write(project / "count.py", FLOW + OPTIONS)
    loaded = load_workflow("count.py:more", cwd=project)
    assert loaded.definition.configuration.profile_arguments == {}
    configured = configure_workflow(loaded, [])
    assert list(configured.definition.configuration.profile_arguments) == ["writer"]
    assert configured.runtime_options.broken is False  # pyright: ignore


def test_a_configuration_that_fails_is_told_by_its_line(project: Path) -> None:
    write(project / "count.py", FLOW + OPTIONS)
    loaded = load_workflow("count.py:more", cwd=project)
    with pytest.raises(InvalidInput, match=r"^count\.py:23: configure failed: ValueError: no such model"):
        configure_workflow(loaded, ["--runtime.broken"])


# What a run remembers.


def test_a_file_that_is_gone_is_not_found_again(project: Path) -> None:
    with pytest.raises(NotFound, match=r"no file gone\.py"):
        reload_workflow(SourceFile(path="gone.py", name="flow"), project)


def test_a_remembered_path_cannot_lead_out_of_the_project(project: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside.py", FLOW)
    with pytest.raises(InvalidInput, match="outside"):
        reload_workflow(SourceFile(path="../outside.py", name="flow"), project)


# The same names everywhere.


def test_a_script_run_by_python_has_the_id_of_the_loaded_file(project: Path) -> None:
    write(project / "flows/count.py", FLOW + "print(flow.definition().id)\n")
    command = [sys.executable, "count.py"]
    found = subprocess.run(command, cwd=project / "flows", capture_output=True, text=True, check=True)
    loaded = load_workflow("flows/count.py", cwd=project)
    assert found.stdout.strip() == loaded.definition.id


def test_a_module_run_by_python_has_the_id_of_the_loaded_module(project: Path) -> None:
    write(project / "src/shop/flows.py", FLOW + "print(flow.definition().id)\n")
    command = [sys.executable, "-m", "shop.flows"]
    found = subprocess.run(command, cwd=project / "src", capture_output=True, text=True, check=True)
    assert found.stdout.strip() == load_workflow("shop.flows", cwd=project).definition.id


def test_the_example_of_the_documentation_runs(tmp_path: Path) -> None:
    loaded = load_workflow("countdown.py", cwd=Path(__file__).parents[2] / "docs/examples")
    configured = configure_workflow(loaded, ["--input.value", "2"])
    dispatcher = Dispatcher(project_root=loaded.project_root)
    result = dispatcher.run(configured.definition, configured.input, output_dir=tmp_path / "out")
    assert result.output == configured.input
    texts = [path.read_text() for path in sorted((tmp_path / "out/work").glob("*/step.txt"))]
    assert texts == ["step 1 of 3\n", "step 2 of 3\n", "step 3 of 3\n"]
