"""`python -m verdog_cli` is `verdog`."""

import sys

from verdog_cli.main import main

if __name__ == "__main__":
    sys.exit(main())
