"""torchmedic: runs a PyTorch training, notices when it goes wrong, names the cause."""

from typing import TYPE_CHECKING, Any

from torchmedic._version import __version__ as __version__

if TYPE_CHECKING:
    from torchmedic.asserting import NonFiniteError as NonFiniteError
    from torchmedic.asserting import assert_finite as assert_finite
    from torchmedic.checking import DirtyDataError as DirtyDataError
    from torchmedic.checking import assert_clean_data as assert_clean_data
    from torchmedic.checking import check_data as check_data
    from torchmedic.early_stopping import EarlyStopping as EarlyStopping
    from torchmedic.estimating import EstimateError as EstimateError
    from torchmedic.estimating import GiB as GiB
    from torchmedic.estimating import estimate as estimate
    from torchmedic.in_process import watch as watch
    from torchmedic.metrics import log as log

_HOME = {
    "assert_clean_data": "checking",
    "assert_finite": "asserting",
    "check_data": "checking",
    "DirtyDataError": "checking",
    "EarlyStopping": "early_stopping",
    "EstimateError": "estimating",
    "GiB": "estimating",
    "estimate": "estimating",
    "log": "metrics",
    "NonFiniteError": "asserting",
    "watch": "in_process",
}


def __getattr__(name: str) -> Any:
    """Import what needs torch only when it is asked for: the command line must answer without torch."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    return found


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext torchmedic`."""
    from torchmedic.integrations.notebook import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext torchmedic`."""
    from torchmedic.integrations.notebook import unload

    unload(shell)
