"""The text of `verdog --help`. Generated: `python -m tests.docs.generate`."""

TEXT = """\
Usage: verdog [OPTIONS] COMMAND [ARGS]...

  Git for workflow runs: every visit of a node is a commit that can be seen,
  resumed and forked.

Options:
  -C DIR        Work as if started in DIR.
  --color WHEN  Colours: auto (only on a terminal), always or never.
  --no-pager    Never send long output through a pager.
  --traceback   Show the traceback of an error, too.
  --version     Show the version and exit.
  -h, --help    Show this message and exit.

Running:
  demo     Make an example project, run it, kill a second run half way.
  run      Run a workflow and commit after every visit.
  resume   Go on with a run from its latest checkpoint.
  restart  Run a run's workflow again from the beginning.
  fork     Start a new run from any checkpoint.

Looking:
  runs         List the runs of this project.
  log          List checkpoints, newest first.
  show         Show a checkpoint: header, state, changed files.
  diff         Compare two checkpoints: visits, state and files.
  checkpoints  List what each checkpoint of a run can be used for.
  ls           List the files of a checkpoint.
  cat          Write a file of a checkpoint to standard output.
  status       Compare a run's directory with its latest checkpoint.
  doctor       Report on the project, its store and the machine below.

Changing:
  checkout  Write the files of a checkpoint into a new directory.
  restore   Put recorded files back into a run's directory.
  tag       Name a checkpoint.
  label     Name a run.
  fsck      Check everything that is stored.

Elsewhere:
  git         Export the history for Git's own tools.
  completion  Print the script that completes command lines.

  RUN is a run's id or the beginning of it, its label or its directory. REV is a
  checkpoint: RUN (its latest), RUN@17, RUN@survey#3 (after the third completed
  visit of survey), RUN~2, a tag or a commit.

  verdog COMMAND --help explains a command. Start with: verdog demo
"""
