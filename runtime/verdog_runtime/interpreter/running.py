"""The execution of one run from its first step, or from a restored one, to its end."""

from pathlib import Path

from verdog_repo.names import RunId
from verdog_runtime.declarations.ids import RunId as ContextRunId
from verdog_runtime.interpreter.announcer import Announcer
from verdog_runtime.interpreter.books import Books
from verdog_runtime.interpreter.commands import Fail, Finish
from verdog_runtime.interpreter.driver import drive
from verdog_runtime.interpreter.machine import Phase, Step
from verdog_runtime.interpreter.reports import Reports
from verdog_runtime.interpreter.settings import Settings
from verdog_runtime.interpreter.visit import Visitor
from verdog_runtime.layout import VisitDirectories
from verdog_runtime.trace import TRACE_LOG, TraceLog


def execute(
    begin: Step, *, run: RunId, output: Path, settings: Settings, books: Books, options: object = None
) -> Finish | Fail:
    """Drive a run to its end in an existing output directory.

    Args:
        begin: the first step, of a new run or of one that goes on.
        run: its id.
        output: absolute.
        settings: the dispatcher's.
        books: where its checkpoints and its end are written down.
        options: the runtime options, for the report.

    Raises:
        BaseException: cancellation, an interrupt, or another one that is no `Exception`; the books say so.
    """
    machine, _ = begin
    reports = Reports(output, machine.frame)
    try:
        settings.observer.run_started(run)
        with TraceLog(output / TRACE_LOG) as trace:
            run_id = ContextRunId(run)
            events = Announcer(run_id, settings.handler)
            reports.begin(options, entered=machine.phase is Phase.ENTERING)
            visitor = Visitor(run_id, VisitDirectories(output), trace, events, settings.observer)
            outcome = drive(begin, visitor, books, settings.cancellation)
        books.finish(outcome)
    except BaseException as error:
        books.interrupt(error)
        raise
    finally:
        reports.end()
    return outcome
