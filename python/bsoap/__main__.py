"""The command ``bsoap``: ``python -m bsoap``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from ._bsoap import run_command


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, by default with the arguments of the process, and returns its exit code."""
    # The handler of Python would wait for the command to return, which it does not while it waits for the network.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    given = sys.argv[1:] if arguments is None else arguments
    return run_command(["bsoap", *given])


if __name__ == "__main__":
    sys.exit(main())
