"""Workflows as typed graphs, and the interpreter that executes them."""
