"""`python -m autograder COMMAND` is `autograder COMMAND`."""

import sys

from autograder.cli import main

sys.exit(main())
