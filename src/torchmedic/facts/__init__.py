"""What was seen: torch-free records between the probes and the rules."""

from torchmedic.facts.codec import from_plain as from_plain
from torchmedic.facts.codec import observation_from_plain as observation_from_plain
from torchmedic.facts.codec import to_plain as to_plain
from torchmedic.facts.core import Location as Location
from torchmedic.facts.core import ModuleFact as ModuleFact
from torchmedic.facts.core import Observation as Observation
from torchmedic.facts.core import Run as Run
from torchmedic.facts.core import RunInfo as RunInfo
from torchmedic.facts.core import TensorSummary as TensorSummary
from torchmedic.facts.core import Value as Value
from torchmedic.facts.crash import ChildDeath as ChildDeath
from torchmedic.facts.crash import Crash as Crash
from torchmedic.facts.crash import Frame as Frame
from torchmedic.facts.crash import RefetchedSample as RefetchedSample
