"""First on the path of a watched process: arms torchmedic, then gives way to the sitecustomize that was there."""

import os
import sys


def _clean() -> None:
    """Leave no trace of this folder: the script and the processes it starts see the path they would have had."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    before = os.environ.pop("TORCHMEDIC_PYTHONPATH", None)
    if before is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = before


def _arm() -> None:
    before = set(sys.modules)
    try:
        from torchmedic.launch.child import arm
        from torchmedic.launch.names import give_back_names

        arm()
        give_back_names(before)
    except Exception as error:  # noqa: BLE001 - our faults never take the script down
        print(f"torchmedic: could not watch this run ({type(error).__name__}: {error})", file=sys.stderr)
    os.environ.pop("TORCHMEDIC_ARMED", None)


def _give_way() -> None:
    """Load the next `sitecustomize`, as if this one were not here."""
    ours = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = ours


_clean()
if "TORCHMEDIC_ARMED" in os.environ:
    _arm()
_give_way()
