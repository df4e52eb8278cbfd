"""A model on the meta device: its parameters have shapes, and no values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, ModelAtCrash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, lacks_data, said, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_SIGNS = (
    r"\bTensor on device (?:meta is not on the expected device|\S+ is not on the expected device meta\b)",
    r"two devices, (?:meta(?: and |, )\S+|\S+?(?: and |, )meta)!",
    r" is on meta, different from other tensors|different from other tensors on meta\b",
    r"\bCannot copy out of meta tensor; no data",
    r"\bcannot be called on meta tensors",
)


class ParametersWithoutData(Rule):
    """Built on meta, and never given values: a state that is copied into such parameters goes nowhere."""

    code = "ERR110"
    name = "parameters-without-data"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message names the device meta, or a meta tensor"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        showed = user_line(crash) if crash is not None else None
        models = [m for m in run.all(ModelAtCrash) if "meta" in (m.devices or {})]
        if crash is None or showed is None or said(crash, *_SIGNS) is None or not lacks_data(run, crash):
            return
        code = Code.of(run)
        loaded = _copied_into(code, models, showed)
        made = _made_on_meta(code)
        name = models[0].name if models else "the model"
        called = f"`{name}`" if models else name
        where = loaded[0] if loaded is not None else showed
        yield self.diagnose(
            headline=f"{called} has no values: `load_state_dict` copies nothing into parameters on meta"
            if loaded is not None
            else f"the parameters of {called} are on meta: they have shapes, and no values",
            confidence="proven" if models else "likely",
            where=where,
            label="nothing is copied here" if loaded is not None else "needs values",
            also=also((made, "built on meta here"), (showed, "the values are needed here"), but=where),
            culprit=Culprit(module=name, phase="setup"),
            evidence=tuple(
                f"{m.devices['meta']} of {m.parameters} parameters of `{m.name}` are on meta"
                for m in models[:2]
                if m.devices is not None
            ),
            remedies=tuple(_cures(loaded, name if models else "model")),
        )


def _copied_into(code: Code, models: list[ModelAtCrash], showed: Location) -> tuple[Location, str] | None:
    """The line that loads a state into such a model without taking over its tensors, and the call there."""
    names = {m.name for m in models}
    found = [
        (place, ast.unparse(call))
        for place, call in code.calls("load_state_dict")
        if dotted(call.func).rpartition(".")[0] in names
        if not any(k.arg == "assign" for k in call.keywords)
        if place.file != showed.file or place.function != showed.function or place.line < showed.line
    ]
    return found[-1] if found else None


def _made_on_meta(code: Code) -> Location | None:
    """The one line that names the device meta."""
    found = [
        code.place(file, node)
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Constant) and node.value == "meta")
        or (isinstance(node, ast.Call) and re.search(r"\binit_empty_weights$", dotted(node.func)))
    ]
    return found[0] if len(found) == 1 else None


def _cures(loaded: tuple[Location, str] | None, name: str) -> Iterator[Remedy]:
    if loaded is not None:
        call = loaded[1]
        yield Remedy(title=f"take the tensors of the state over: `{call[:-1]}, assign=True)`")
        yield Remedy(title=f'or make room before loading: `{name}.to_empty(device="cpu")`')
        return
    yield Remedy(
        title=f'make room with `{name}.to_empty(device="cpu")`, then load a state or initialise every layer',
        detail="`to_empty` leaves whatever is in memory: the layers do not initialise themselves again",
    )
    yield Remedy(title="or load a state with `load_state_dict(state, assign=True)`, which brings its own tensors")
