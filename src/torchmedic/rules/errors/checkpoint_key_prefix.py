"""Checkpoint keys that differ from the model's by a prefix only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._checkpoints import Mismatch, mismatch, prefix_difference
from torchmedic.rules.errors._reading import also, crash_in, user_line
from torchmedic.rules.errors._syntax import Assignment, Code, dotted

_MAKERS = {
    "module.": "`nn.DataParallel` or `DistributedDataParallel` wrapped the model when it was saved",
    "_orig_mod.": "`torch.compile` wrapped the model when it was saved",
    "model.": "a LightningModule or a wrapper that keeps the network as `self.model` saved it",
}
_PREFIXES = {"DataParallel": "module.", "DistributedDataParallel": "module.", "DDP": "module.", "compile": "_orig_mod."}


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
        saved = _saved_wrapped(Code.of(run), surplus) if where is not None else None
        yield self.diagnose(
            headline=f"the keys of the checkpoint {'begin with' if surplus else 'lack the prefix'} `{prefix}`",
            confidence="proven",
            where=where,
            label=f"`{found.model}` {'has no' if surplus else 'needs the'} prefix `{prefix}`",
            also=_saving(saved, where),
            culprit=Culprit(module=found.model, parameter=found.unexpected[0] if found.unexpected else None),
            evidence=tuple(_evidence(found, surplus, lacking)),
            remedies=tuple(_remedies(surplus, lacking, saved)),
        )


@dataclass(frozen=True)
class _Saved:
    """A line that saves the parameters by the names that a wrapper gives them, and the line that wrapped."""

    name: str
    wrapper: str
    saved: Location
    wrapped: Location


def _saved_wrapped(code: Code, prefix: str) -> _Saved | None:
    """The saving that put the prefix into the file, where it stands in the files at hand."""
    for place, call in code.calls("save"):
        for node in ast.walk(call):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "state_dict":
                name = ast.unparse(node.func.value)
                bound = code.last_assignment(name, place) or _of_object(code, name)
                value = bound.value if bound is not None else None
                if bound is not None and isinstance(value, ast.Call) and _PREFIXES.get(_word(value)) == prefix:
                    return _Saved(name, _word(value), place, bound.location)
    return None


def _of_object(code: Code, name: str) -> Assignment | None:
    """What is bound in another method: `self.net = …`."""
    owner, _, attribute = name.rpartition(".")
    return next(iter(code.attribute_assignments(attribute)), None) if owner == "self" else None


def _word(call: ast.Call) -> str:
    return dotted(call.func).rpartition(".")[2]


def _saving(saved: _Saved | None, where: Location | None) -> tuple[Also, ...]:
    if saved is None:
        return ()
    return also(
        (saved.saved, f"saves the names that the wrapper `{saved.name}` gives: `state_dict()` is asked of it"),
        (saved.wrapped, f"`{saved.wrapper}` wraps the model here"),
        but=where,
    )


def _evidence(found: Mismatch, surplus: str, lacking: str) -> Iterator[str]:
    yield f"the checkpoint has `{found.unexpected[0]}`, the model `{found.missing[0]}`"
    yield f"{len(found.unexpected)} keys differ in this way"
    maker = _MAKERS.get(surplus)
    if maker:
        yield maker
    elif lacking in _MAKERS:
        yield f"the model is wrapped now (its keys begin with `{lacking}`), but was not when it was saved"


def _remedies(surplus: str, lacking: str, saved: _Saved | None) -> Iterator[Remedy]:
    if surplus:
        yield Remedy(
            title="take the prefix off before loading",
            diff=f"+ state = {{key.removeprefix({surplus!r}): value for key, value in state.items()}}",
        )
        if surplus == "module.":
            name = saved.name if saved is not None else "model"
            yield Remedy(title=f"and save `{name}.module.state_dict()` in future")
    else:
        inner = lacking.rstrip(".").rpartition(".")[2]
        yield Remedy(title=f"load into the inner module: `model.{inner}.load_state_dict(state)`")
        yield Remedy(
            title="or add the prefix before loading",
            diff=f"+ state = {{{lacking!r} + key: value for key, value in state.items()}}",
        )
