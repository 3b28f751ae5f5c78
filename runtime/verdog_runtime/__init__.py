"""Workflows as typed graphs, and the interpreter that executes them."""

from verdog_runtime.cancellation import CancellationToken, ExecutionCancelled

__all__ = ["CancellationToken", "ExecutionCancelled"]
