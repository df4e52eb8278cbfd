"""The tests read what is said in English, whatever the locale of the machine."""

import os

os.environ["TORCHMEDIC_LANG"] = "en"
