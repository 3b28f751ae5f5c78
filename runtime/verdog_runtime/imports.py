"""Imports: an author's file or module executed as a module, and its failure told in one sentence."""

import importlib
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, TracebackType

from verdog_objects.errors import InvalidInput, NotFound
from verdog_repo.filenames import format_filename
from verdog_runtime.authoring.location import AuthoringError
from verdog_runtime.authoring.naming import format_file_package

_INSTALLED = frozenset({"site-packages", "dist-packages"})


class FileModule(ModuleType):
    """A file that was executed under the module name that stands for its place in its project.

    Attributes:
        source: the bytes that were executed.
    """

    source: bytes


def import_file(file: Path, project: Path) -> ModuleType:
    """Execute a file as the module that is named after its path in its project.

    It runs as a script would: its own directory comes first in `sys.path`. It is not `__main__`, so a guarded
    block does not run. Its classes belong to a module that exists again once the file is loaded again. A file
    that has not changed since it was loaded in this process is not executed again. No byte code is written.

    Args:
        file: the file, absolute.
        project: the project that holds it, absolute.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it cannot be read, or executing it fails; the error names the line, and its cause is the
            author's own exception.
    """
    relative = format_filename(file.relative_to(project).as_posix())
    if not is_file(file):
        raise NotFound(f"there is no file {relative} in {project}")
    try:
        source = file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{relative} cannot be read: {error.strerror}") from error
    name = format_file_package(relative)
    known = sys.modules.get(name)
    if isinstance(known, FileModule) and known.source == source and known.__file__ == str(file):
        return known
    module = FileModule(name)
    module.source = source
    module.__file__ = str(file)
    module.__package__ = ""
    with _loading(str(file.parent)), _planting(module):
        try:
            exec(compile(source, str(file), "exec", dont_inherit=True), vars(module))
        except (Exception, SystemExit) as error:
            raise explain_failure(error, f"{relative} cannot be loaded", project) from _trim(error)
    return module


def import_named(name: str, project: Path, *, cwd: Path | None = None) -> ModuleType:
    """Import a module by its name, with the project's sources first in `sys.path`.

    Args:
        name: the module's absolute name.
        project: the project whose `src` and root are searched.
        cwd: another directory to search, before all others.

    Raises:
        NotFound: there is no such module.
        InvalidInput: importing it fails; the error names the line, its cause is the author's own exception.
    """
    places = [str(place) for place in (cwd, project / "src", project) if place is not None and place.is_dir()]
    with _loading(*places):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is not None and f"{name}.".startswith(f"{error.name}."):
                raise NotFound(f"there is no module {name!r} in {project}") from None
            raise explain_failure(error, f"module {name} cannot be loaded", project) from _trim(error)
        except (Exception, SystemExit) as error:
            raise explain_failure(error, f"module {name} cannot be loaded", project) from _trim(error)


def is_file(path: Path) -> bool:
    """Return whether a path is a regular file that can be looked up."""
    try:
        return path.is_file()
    except OSError:
        return False


def explain_failure(error: BaseException, what: str, project: Path) -> InvalidInput:
    """Return the failure of an author's code as one sentence that begins with the author's line.

    Args:
        error: what the code raised.
        what: what failed, as the beginning of a sentence.
        project: the project that the author's code belongs to.
    """
    if isinstance(error, AuthoringError):
        return error
    text = str(error).strip().partition("\n")[0]
    place = _find_line(error, project)
    if isinstance(error, SyntaxError):
        text = error.msg
        if error.filename is not None:
            place = (error.filename, error.lineno or 1)
    reason = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if place is None:
        return InvalidInput(f"{what}: {reason}")
    return InvalidInput(f"{_shorten(place[0], project)}:{place[1]}: {what}: {reason}")


def _find_line(error: BaseException, project: Path) -> tuple[str, int] | None:
    """Return the innermost line of an error that is the author's own."""
    found: tuple[str, int] | None = None
    for frame in _iter_frames(error.__traceback__):
        path = Path(frame.tb_frame.f_code.co_filename)
        if path.is_relative_to(project) and not _INSTALLED & set(path.parts) and path != Path(__file__):
            found = (str(path), frame.tb_lineno)
    return found


def _iter_frames(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _trim(error: BaseException) -> BaseException:
    """Return an error without the frames of the import itself, the outer ones of its traceback."""
    trace = error.__traceback__
    while trace is not None and _is_machinery(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return error.with_traceback(trace)


def _is_machinery(path: str) -> bool:
    return path == __file__ or path == importlib.__file__ or path.startswith("<frozen importlib")


def _shorten(path: str, project: Path) -> str:
    full = Path(path)
    return full.relative_to(project).as_posix() if full.is_relative_to(project) else path


@contextmanager
def _loading(*places: str) -> Generator[None]:
    """Put directories first in `sys.path`, to stay there unless the import fails, and write no byte code."""
    before = list(sys.path)
    flag = sys.dont_write_bytecode
    sys.path[:0] = [place for place in places if place not in before]
    sys.dont_write_bytecode = True
    try:
        yield
    except BaseException:
        sys.path[:] = before
        raise
    finally:
        sys.dont_write_bytecode = flag


@contextmanager
def _planting(module: ModuleType) -> Generator[None]:
    """Make a module importable while it is executed, and after that unless it fails."""
    before = dict(sys.modules)
    sys.modules[module.__name__] = module
    try:
        yield
    except BaseException:
        for name in [name for name in sys.modules if f"{name}.".startswith(f"{module.__name__}.")]:
            if name in before:
                sys.modules[name] = before[name]
            else:
                del sys.modules[name]
        raise
