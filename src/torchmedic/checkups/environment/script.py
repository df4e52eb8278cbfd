"""Which file is the user's script."""

from __future__ import annotations

import os
import sys

from torchmedic.probes.source.frames import is_user_file


def script_file() -> str:
    """The script's path; empty for a prompt. Python takes `__file__` away before exit handlers run."""
    named = getattr(sys.modules.get("__main__"), "__file__", None) or (sys.argv[0] if sys.argv else "")
    return named if named and os.path.isfile(named) and is_user_file(named) else ""
