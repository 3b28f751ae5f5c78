"""The loop: perform what the machine asks for, and answer it."""

from typing import assert_never

from verdog_runtime.cancellation import CancellationToken
from verdog_runtime.interpreter.books import Books
from verdog_runtime.interpreter.commands import (
    Answer,
    Command,
    EmitEdge,
    Fail,
    Failed,
    Finish,
    Record,
    Recorded,
    VisitNode,
    VisitPort,
)
from verdog_runtime.interpreter.events import ExecutionStatus
from verdog_runtime.interpreter.machine import Machine, Step, step
from verdog_runtime.interpreter.visit import Visitor
from verdog_runtime.storeerrors import OutputLost


def drive(begin: Step, visitor: Visitor, books: Books, token: CancellationToken) -> Finish | Fail:
    """Run a machine to its end.

    Raises:
        BaseException: whatever is no `Exception` (cancellation, an interrupt) leaves at once.
    """
    machine, commands = begin
    while True:
        answer: Answer | None = None
        for command in commands:
            match command:
                case Finish() | Fail():
                    return command
                case EmitEdge(edge=edge, state=state):
                    visitor.events.edge(machine.frame, edge, ExecutionStatus.SUCCEEDED, state)
                case VisitNode() | VisitPort() | Record():
                    answer = _perform(command, machine, visitor, books, token)
                    if isinstance(answer, Failed) and isinstance(answer.error, OutputLost):
                        return Fail(error=answer.error)  # a failure port would write into whatever is there
                case _:
                    assert_never(command)
        if answer is None:
            raise AssertionError("a step asked for nothing")
        machine, commands = step(machine, answer)


def _perform(
    command: Command, machine: Machine, visitor: Visitor, books: Books, token: CancellationToken
) -> Answer:
    try:
        match command:
            case Record():
                books.record(command, machine)
                return Recorded()
            case VisitPort(port=port, error=error):
                if error is None:
                    token.raise_if_cancelled()
                return visitor.visit_port(machine.frame, port, error)
            case VisitNode(edge=edge, node=node):
                token.raise_if_cancelled()
                return visitor.visit_node(machine.frame, edge, node)
            case _:
                raise AssertionError(f"{command} needs no answer")
    except Exception as error:
        return Failed(error=error)
