"""A CUDA build of torch that sees no GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Environment, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import device_line, links, quoted, user_line

_SIGNS = re.compile(
    r"Found no NVIDIA driver on your system|No CUDA GPUs are available|no CUDA-capable device is detected|"
    r"Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False"
)


class InvisibleGpu(Rule):
    """The script asks for CUDA, and there is no driver, no card, or none that this process may see."""

    code = "ENV016"
    name = "invisible-gpu"
    symptoms = (Symptom.CRASH, Symptom.NO_GPU)
    tell_apart = "torch has CUDA, but `torch.cuda.device_count()` is 0: no driver, no card, or hidden by a variable"
    needs = ()
    folds = ("ERR",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = next((c for c in links(run) if _SIGNS.search(c.message)), None)
        if crash is None:
            return
        environment = run.first(Environment)
        loading = "deserialize" in crash.message
        yield self.diagnose(
            headline="the checkpoint was saved on a GPU, and this process sees none"
            if loading
            else "this line asks for CUDA, and the process sees no GPU",
            confidence="proven",
            where=user_line(run, crash) if loading else device_line(run, crash),
            label="needs a GPU",
            culprit=Culprit(phase="setup", module="torch.cuda"),
            evidence=tuple(_evidence(quoted(crash.message), environment)),
            remedies=_cures(loading, environment),
        )


def _evidence(said: str, environment: Environment | None) -> Iterator[str]:
    yield said
    if environment is None:
        return
    if environment.visible_devices is not None:
        yield f"`CUDA_VISIBLE_DEVICES` is `{environment.visible_devices}`"
    if environment.gpus and not environment.driver:
        yield f"the machine has `{environment.gpus[0]}`, but no driver answers"


def _cures(loading: bool, environment: Environment | None) -> tuple[Remedy, ...]:
    cures = []
    if loading:
        cures.append(Remedy(title='load it to the CPU: `torch.load(path, map_location="cpu")`'))
    if environment is not None and environment.visible_devices is not None:
        cures.append(Remedy(title="unset `CUDA_VISIBLE_DEVICES`, or give it the number of a card"))
    if not loading:
        cures.append(Remedy(title='choose what is there: `device = "cuda" if torch.cuda.is_available() else "cpu"`'))
    cures.append(
        Remedy(title="or, in a container on a machine with a card, let it see the card: `docker run --gpus all …`")
    )
    return tuple(cures)
