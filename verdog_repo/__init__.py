"""The history of workflow runs: commits, refs, revisions, forks."""
