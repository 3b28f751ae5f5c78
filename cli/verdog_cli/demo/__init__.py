"""The ready example that `verdog demo` copies into a new project directory."""
