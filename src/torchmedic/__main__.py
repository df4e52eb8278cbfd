"""`python -m torchmedic`."""

from torchmedic.cli import main

main()
