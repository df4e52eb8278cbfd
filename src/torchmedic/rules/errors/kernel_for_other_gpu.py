"""A GPU for which the installed build of torch, or of an extension, has no code."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, said, user_line


class KernelForOtherGpu(Rule):
    """CUDA found no machine code that this GPU can run."""

    code = "ERR275"
    name = "kernel-for-other-gpu"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`no kernel image is available for execution on the device`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if (
            crash is None
            or said(crash, "no kernel image is available", "is not compatible with the current PyTorch") is None
        ):
            return
        yield self.diagnose(
            headline="the installed build has no code that this GPU can run",
            confidence="likely",
            where=user_line(crash),
            culprit=Culprit(phase="setup", op="cuda"),
            evidence=(
                "`torch.cuda.get_arch_list()` tells what the build has, `get_device_capability()` what is needed",
            ),
            remedies=(
                Remedy(
                    title="for a new GPU install a build for a newer CUDA: https://pytorch.org/get-started/locally/"
                ),
                Remedy(title="for one that is no longer supported install the last torch that had it"),
                Remedy(title="build extensions of your own anew, with `TORCH_CUDA_ARCH_LIST` set to the GPU's number"),
            ),
        )
