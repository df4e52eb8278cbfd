"""torchmedic: runs a PyTorch training, notices when it goes wrong, names the cause."""

from typing import TYPE_CHECKING, Any

from torchmedic._version import __version__ as __version__

if TYPE_CHECKING:
    from torchmedic.asserting import assert_finite as assert_finite


def __getattr__(name: str) -> Any:
    """Import what needs torch only when it is asked for: the command line must answer without torch."""
    if name == "assert_finite":
        from torchmedic.asserting import assert_finite

        return assert_finite
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
