"""torchmedic: runs a PyTorch training, notices when it goes wrong, names the cause."""

from torchmedic._version import __version__ as __version__
