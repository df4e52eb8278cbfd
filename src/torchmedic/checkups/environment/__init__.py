"""Looking at the machine and the installed packages; importing none of them."""

from torchmedic.checkups.environment.network import look_outside as look_outside
from torchmedic.checkups.environment.survey import survey as survey
