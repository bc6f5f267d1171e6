"""``python -m wayword`` is the command ``wayword``."""

import signal
import sys

__all__ = ["main"]


def main() -> int:
    """Run the command; Ctrl-C while modules are loaded just ends it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from wayword.cli import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
