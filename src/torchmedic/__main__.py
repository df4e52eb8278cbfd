"""`python -m torchmedic`."""

import sys

if not sys.flags.safe_path:
    # `-m` puts the working directory first, where a file of the user's may have the name of a module that we need.
    del sys.path[0]

from torchmedic.cli import main

main()
