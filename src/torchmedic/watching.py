"""Which probes watch a run, in the order in which they hear of events."""

from __future__ import annotations

from torchmedic.record import Recorder


def install_probes(recorder: Recorder) -> None:
    """Install every probe. Called when torch has been imported."""
    from torchmedic.probes.autograd import Autograd
    from torchmedic.probes.batches import Batches
    from torchmedic.probes.modules import Modules
    from torchmedic.probes.optimizers import Optimizers

    for probe in (Modules(), Optimizers(), Autograd(), Batches()):
        recorder.add(probe)
