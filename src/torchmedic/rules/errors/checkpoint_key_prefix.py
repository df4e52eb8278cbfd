"""Checkpoint keys that differ from the model's by a prefix only."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._checkpoints import Mismatch, mismatch, prefix_difference
from torchmedic.rules.errors._reading import crash_in, user_line

_MAKERS = {
    "module.": "`nn.DataParallel` or `DistributedDataParallel` wrapped the model when it was saved",
    "_orig_mod.": "`torch.compile` wrapped the model when it was saved",
    "model.": "a LightningModule or a wrapper that keeps the network as `self.model` saved it",
}


class CheckpointKeyPrefix(Rule):
    """Every key of the checkpoint has a prefix too much, or one too few."""

    code = "ERR051"
    name = "checkpoint-key-prefix"
    symptoms = (Symptom.CRASH,)
    tell_apart = "missing and unexpected keys are the same but for a prefix such as `module.`"
    needs = (Crash,)
    folds = ("checkpoint-key-mismatch", "checkpoint-shape-mismatch")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = mismatch(crash)
        if crash is None or found is None:
            return
        surplus = prefix_difference(found.unexpected, found.missing)
        lacking = "" if surplus else prefix_difference(found.missing, found.unexpected)
        prefix = surplus or lacking
        if not prefix:
            return
        where = user_line(crash)
        yield self.diagnose(
            headline=f"the keys of the checkpoint {'begin with' if surplus else 'lack the prefix'} `{prefix}`",
            confidence="proven",
            where=where,
            label=f"`{found.model}` {'has no' if surplus else 'needs the'} prefix `{prefix}`",
            culprit=Culprit(module=found.model, parameter=found.unexpected[0] if found.unexpected else None),
            evidence=tuple(_evidence(found, surplus, lacking)),
            remedies=tuple(_remedies(surplus, lacking)),
        )


def _evidence(found: Mismatch, surplus: str, lacking: str) -> Iterator[str]:
    yield f"the checkpoint has `{found.unexpected[0]}`, the model `{found.missing[0]}`"
    yield f"{len(found.unexpected)} keys differ in this way"
    maker = _MAKERS.get(surplus)
    if maker:
        yield maker
    elif lacking in _MAKERS:
        yield f"the model is wrapped now (its keys begin with `{lacking}`), but was not when it was saved"


def _remedies(surplus: str, lacking: str) -> Iterator[Remedy]:
    if surplus:
        yield Remedy(
            title="take the prefix off before loading",
            diff=f"+ state = {{key.removeprefix({surplus!r}): value for key, value in state.items()}}",
        )
        if surplus == "module.":
            yield Remedy(title="and save `model.module.state_dict()` in future")
    else:
        inner = lacking.rstrip(".").rpartition(".")[2]
        yield Remedy(title=f"load into the inner module: `model.{inner}.load_state_dict(state)`")
        yield Remedy(
            title="or add the prefix before loading",
            diff=f"+ state = {{{lacking!r} + key: value for key, value in state.items()}}",
        )
