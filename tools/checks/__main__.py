"""The command: `make check`."""

import sys

from tools.checks.repository import main

sys.exit(main())
