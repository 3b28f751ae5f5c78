"""The commands of `verdog`, one module each, loaded when they are called."""
