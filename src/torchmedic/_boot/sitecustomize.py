"""First on the path of a watched process: arms torchmedic, then gives way to the sitecustomize that was there."""

import os
import sys


def _give_way() -> None:
    """Take this folder off the path and load the next `sitecustomize`, as if this one were not here."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        if ours is not None:
            sys.modules["sitecustomize"] = ours


def _arm() -> None:
    if "TORCHMEDIC_ARMED" not in os.environ:
        return
    try:
        from torchmedic.launch.child import arm

        arm()
    except Exception as error:
        print(f"torchmedic: could not watch this run ({type(error).__name__}: {error})", file=sys.stderr)


_arm()
_give_way()
