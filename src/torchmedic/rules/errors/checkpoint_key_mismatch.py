"""Checkpoint keys that do not belong to this model."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._checkpoints import Mismatch, compressed, mismatch, prefix_difference
from torchmedic.rules.errors._reading import crash_in, user_line

_WHOLE = {
    "model",
    "state_dict",
    "model_state_dict",
    "optimizer",
    "optimizer_state_dict",
    "epoch",
    "net",
    "step",
    "loss",
}
_INNER = ("model_state_dict", "state_dict", "model", "net", "weights")


class CheckpointKeyMismatch(Rule):
    """Keys are missing or unexpected, and not because of a prefix."""

    code = "ERR052"
    name = "checkpoint-key-mismatch"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`Missing key(s)` or `Unexpected key(s) in state_dict` that no common prefix explains"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = mismatch(crash)
        if crash is None or found is None or not (found.missing or found.unexpected):
            return
        if prefix_difference(found.unexpected, found.missing) or prefix_difference(found.missing, found.unexpected):
            return
        inner = _inner_key(found)
        yield self.diagnose(
            headline=_headline(found, inner),
            confidence="proven",
            where=user_line(crash),
            label=f"`{found.model}` has no such keys" if inner else "",
            culprit=Culprit(module=found.model, parameter=(found.missing or found.unexpected)[0]),
            evidence=tuple(_evidence(found)),
            remedies=tuple(_remedies(found, inner)),
        )


def _inner_key(found: Mismatch) -> str:
    """The entry under which the weights lie, where a whole checkpoint was given instead of its weights."""
    if not found.unexpected or not set(found.unexpected) & _WHOLE or any("." in k for k in found.unexpected):
        return ""
    return next((key for key in _INNER if key in found.unexpected), "")


def _headline(found: Mismatch, inner: str) -> str:
    if inner:
        return f"a whole checkpoint was loaded into `{found.model}`: its weights are under `{inner}`"
    parts = [f"{len(found.missing)} missing"] if found.missing else []
    parts += [f"{len(found.unexpected)} unexpected"] if found.unexpected else []
    return f"the checkpoint does not fit `{found.model}`: {' and '.join(parts)} keys"


def _evidence(found: Mismatch) -> Iterator[str]:
    if found.missing:
        yield f"in the model only: {compressed(found.missing)}"
    if found.unexpected:
        yield f"in the checkpoint only: {compressed(found.unexpected)}"
    pairs = _renamed(found)
    if pairs:
        yield "probably renamed: " + ", ".join(f"`{old}` is now `{new}`" for old, new in pairs[:4])
    if found.sizes:
        key, saved, now = found.sizes[0]
        yield f"shapes differ too: `{key}` is {saved} in the checkpoint, {now} in the model"


def _renamed(found: Mismatch) -> list[tuple[str, str]]:
    """Layers whose keys have the same endings under another name."""
    pairs: dict[str, str] = {}
    for key in found.unexpected:
        layer, _, last = key.rpartition(".")
        fitting = [m.rpartition(".")[0] for m in found.missing if m.rpartition(".")[2] == last]
        near = difflib.get_close_matches(layer, fitting, n=1, cutoff=0.7)
        if layer and near:
            pairs.setdefault(layer, near[0])
    return list(pairs.items())


def _remedies(found: Mismatch, inner: str) -> Iterator[Remedy]:
    if inner:
        yield Remedy(title=f"load the inner entry: `load_state_dict(checkpoint[{inner!r}])`")
        return
    pairs = _renamed(found)
    if pairs:
        old, new = pairs[0]
        yield Remedy(
            title="rename the keys before loading",
            diff=f"+ state = {{key.replace({old!r}, {new!r}): value for key, value in state.items()}}",
        )
    yield Remedy(title="build the model with the settings with which the checkpoint was saved")
    yield Remedy(
        title="only for parts that shall start afresh: `load_state_dict(state, strict=False)`",
        detail="and look at the `missing_keys` it returns, for these layers stay random",
    )
