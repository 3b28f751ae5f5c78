"""The entry point of `verdog`: the text of `--help`, or everything else."""

import os
import sys


def main() -> int:
    """Run the command line of this process and return its exit code.

    Cost: `verdog --help` imports only this module and the text; click alone would take four times as long.
    """
    _open_closed_streams()
    arguments = sys.argv[1:]
    asked = os.environ.get("_VERDOG_COMPLETE")
    if asked is not None:
        from verdog_cli.collector import collect_rarely

        collect_rarely()
        from verdog_cli.completion import answer

        return answer(asked)
    if arguments in ([], ["--help"], ["-h"]):
        from verdog_cli.help_text import TEXT

        try:
            sys.stdout.write(TEXT)
            sys.stdout.flush()
        except BrokenPipeError:
            sys.stderr.close()
        except OSError as error:
            sys.stderr.write(f"error: standard output: {error.strerror}\n")
            return 6
        return 0
    from verdog_cli.collector import collect_rarely

    collect_rarely()
    from verdog_cli.application import run_application

    return run_application(arguments)


def _open_closed_streams() -> None:
    """Open `/dev/null` in place of closed standard streams, so that no file of a store gets their numbers."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


if __name__ == "__main__":
    sys.exit(main())
