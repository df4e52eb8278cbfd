"""A checkpoint whose layers have other sizes than the model's."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._checkpoints import Mismatch, mismatch
from torchmedic.rules.errors._reading import also, crash_in, user_line
from torchmedic.rules.errors._syntax import Code

_MOST_SHOWN = 5


class CheckpointShapeMismatch(Rule):
    """All keys are there, but some have another shape."""

    code = "ERR053"
    name = "checkpoint-shape-mismatch"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`size mismatch for …: copying a param with shape …`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = mismatch(crash)
        if crash is None or found is None or not found.sizes or found.missing or found.unexpected:
            return
        key, saved, now = found.sizes[0]
        loaded = user_line(crash)
        calls = [place for place, _ in Code.of(run).calls(found.model.rpartition(".")[2])]
        built = calls[0] if len(calls) == 1 else None
        where = loaded
        yield self.diagnose(
            headline=f"`{key}` is {saved} in the checkpoint and {now} in the model",
            confidence="proven",
            where=where,
            label=f"{len(found.sizes)} parameters of `{found.model}` differ in shape",
            also=also((built, "the model is built here"), but=where),
            culprit=Culprit(module=key.rpartition(".")[0], parameter=key),
            evidence=tuple(_evidence(found)),
            remedies=tuple(_remedies(found)),
        )


def _evidence(found: Mismatch) -> Iterator[str]:
    for key, saved, now in found.sizes[:_MOST_SHOWN]:
        yield f"`{key}`: saved {saved}, now {now}"
    if len(found.sizes) > _MOST_SHOWN:
        yield f"{len(found.sizes) - _MOST_SHOWN} more parameters differ"


def _remedies(found: Mismatch) -> Iterator[Remedy]:
    yield Remedy(title="build the model with the sizes of the checkpoint")
    layers = list(dict.fromkeys(key.rpartition(".")[0] for key, *_ in found.sizes))
    if len(layers) == 1:
        names = ", ".join(repr(key) for key, *_ in found.sizes)
        yield Remedy(
            title=f"or leave `{layers[0]}` out when it shall be trained anew (`strict=False` alone skips no shapes)",
            diff=f"+ for key in ({names},):\n+     state.pop(key)\n+ model.load_state_dict(state, strict=False)",
        )
