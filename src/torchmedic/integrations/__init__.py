"""Where torchmedic meets other programs: notebooks, test runners, training frameworks."""
