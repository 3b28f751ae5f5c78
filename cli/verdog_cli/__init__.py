"""The `verdog` command."""
