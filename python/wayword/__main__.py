"""``python -m wayword`` is the command ``wayword``."""

import sys

from wayword.cli import main

sys.exit(main())
