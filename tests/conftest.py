"""What every test shares: hypothesis profiles, marks, and a project directory of its own."""

import gc
import os
import re
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.commandline import Result, Verdog

_NEEDS_ROOT = "needs root, a tmpfs mount or device nodes: .ci/run runs it"
_SLOW = "takes more than a few seconds: .ci/run runs it"
_LONG = "takes minutes, hours or gigabytes: pytest --long runs it"

settings.register_profile("quick", max_examples=10, deadline=None)
settings.register_profile(
    "ci", max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
PROFILE = os.environ.get("VERDOG_TEST_PROFILE", "quick")
settings.load_profile(PROFILE)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--thorough", action="store_true", help="also run the tests marked root (fails unless root) and slow"
    )
    parser.addoption("--long", action="store_true", help="run the tests marked long, and no others")


def pytest_configure(config: pytest.Config) -> None:
    """Let children of tests be interrupted: what a shell runs in its background ignores SIGINT."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        _keep_byte_code(config)


def _keep_byte_code(config: pytest.Config) -> None:
    """Compile what tests and their children import once: in pytest's cache, if not beside the sources."""
    cache: pytest.Cache | None = getattr(config, "cache", None)  # absent with -p no:cacheprovider
    if sys.dont_write_bytecode and cache is not None:
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(cache.mkdir("bytecode"))
        sys.dont_write_bytecode = False
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while modules are loaded, nor later in what they hold: none of it goes away."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Begin every test with the same import path: a run puts its project into it, for good."""
    path = list(sys.path)
    try:
        return (yield)
    finally:
        sys.path[:] = path


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    long = [item for item in items if item.get_closest_marker("long")]
    if config.getoption("--long"):
        config.hook.pytest_deselected(items=[item for item in items if item not in long])
        items[:] = long
        return
    for item in items:
        if item in long:
            item.add_marker(pytest.mark.skip(reason=_LONG))
        elif config.getoption("--thorough"):
            continue
        elif item.get_closest_marker("root"):
            item.add_marker(pytest.mark.skip(reason=_NEEDS_ROOT))
        elif item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason=_SLOW))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("root") and os.geteuid() != 0:
        pytest.fail("--thorough runs the root tests, and this process is not root", pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    root = sum(_NEEDS_ROOT in text for text in skipped)
    slow = sum(_SLOW in text for text in skipped)
    long = sum(_LONG in text for text in skipped)
    if root or slow:
        terminalreporter.write_line(
            f"left out: {root} tests that need root, {slow} slow tests (pytest --thorough runs them)"
        )
    if long:
        terminalreporter.write_line(f"left out: {long} long tests (pytest --long runs them)")


def _set_synchronous(patch: pytest.MonkeyPatch, mode: str) -> None:
    from verdog_objects import connections

    before: str = connections._PRAGMAS  # pyright: ignore[reportPrivateUsage]
    changed = re.sub(r"synchronous = \w+", f"synchronous = {mode}", before)
    assert mode in changed
    patch.setattr(connections, "_PRAGMAS", changed)


@pytest.fixture(scope="session", autouse=True)
def nothing_waits_for_the_disk() -> Iterator[None]:
    """In the quick profile, let the test's own process sync nothing: no test takes the power away.

    Processes that tests start sync as ever, and so does every test that uses `durable_disk`.
    """
    from tests.objects.trees import UnsyncedDisk
    from verdog_objects import durable

    if PROFILE != "quick":
        yield
        return
    with pytest.MonkeyPatch.context() as patch, durable.replaced(UnsyncedDisk()):
        _set_synchronous(patch, "OFF")
        yield


@pytest.fixture
def durable_disk(nothing_waits_for_the_disk: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Sync everything, for tests of what is synced."""
    from verdog_objects import durable

    with durable.replaced(durable.Disk()):
        _set_synchronous(monkeypatch, "FULL")
        yield


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty project directory that is the current directory, with a home and an import path of its own."""
    home = tmp_path / "home"
    home.mkdir()
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").touch()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(root)
    yield root


@pytest.fixture
def verdog(project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Verdog:
    """Runs a command line in this process, in the project's directory."""
    from verdog_cli.application import run_application

    def call(*arguments: str) -> Result:
        capfd.readouterr()
        monkeypatch.chdir(project)
        for name in [name for name in sys.modules if name.partition(".")[0] == "verdog_file"]:
            del sys.modules[name]  # a command line begins in a process that has loaded no workflow
        code = run_application(arguments)
        return Result(code, *capfd.readouterr())

    return call
