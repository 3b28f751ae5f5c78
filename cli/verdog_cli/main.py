"""The entry point of `verdog`: the text of `--help`, or everything else."""

import sys


def main() -> int:
    """Run the command line of this process and return its exit code.

    Cost: `verdog --help` imports only this module and the text; click alone would take four times as long.
    """
    arguments = sys.argv[1:]
    if arguments in ([], ["--help"], ["-h"]):
        from verdog_cli.help_text import TEXT

        try:
            sys.stdout.write(TEXT)
            sys.stdout.flush()
        except BrokenPipeError:
            sys.stderr.close()
        return 0
    from verdog_cli.application import run_application

    return run_application(arguments)


if __name__ == "__main__":
    sys.exit(main())
