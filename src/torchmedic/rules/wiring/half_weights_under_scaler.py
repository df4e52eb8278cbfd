"""Weights in float16 under a `GradScaler`, which unscales gradients of float32 weights only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, ModelAtCrash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_SHORT = ("float16", "half")


class HalfWeightsUnderScaler(Rule):
    """The model itself was cast to float16, so that its gradients are float16 too."""

    code = "WIR120"
    name = "half-weights-under-scaler"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`Attempting to unscale FP16 gradients`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        showed = user_line(crash) if crash is not None else None
        if crash is None or showed is None or not said(crash, "Attempting to unscale FP16 gradients"):
            return
        models = [m for m in run.all(ModelAtCrash) if (m.dtypes or {}).get("float16")]
        cast = _cast(Code.of(run), {m.name for m in models})
        where = cast or showed
        yield self.diagnose(
            headline="the weights are float16, and a `GradScaler` works on float32 weights only",
            confidence="proven" if cast is not None else "likely",
            step=crash.step,
            where=where,
            label="makes weights in float16" if cast is not None else "gradients of float16 weights",
            also=also((showed, "the scaler refuses their gradients"), but=where),
            culprit=Culprit(phase="setup", op="half", module=models[0].name if models else None),
            evidence=(
                *(f"`{m.name}` has {m.dtypes['float16']} tensors in float16" for m in models[:2] if m.dtypes),
                "small updates are lost in float16 weights; with autocast only the computation is in float16",
            ),
            remedies=(
                Remedy(
                    title="leave the weights in float32, and let `torch.autocast` choose float16 for the computation"
                ),
                Remedy(title="or train in bfloat16, which needs no scaler"),
            ),
        )


def _cast(code: Code, models: set[str]) -> Location | None:
    """The line that makes float16 of a model: of one known by name first, else of anything that is no input."""
    casts = [(place, node) for place, node in code.calls("half", "to", "type", "from_pretrained") if _is_short(node)]
    named = [place for place, node in casts if _model_of(code, place, node) & models]
    loaded = [place for place, node in casts if dotted(node.func).endswith("from_pretrained")]
    return next(iter([*named, *loaded, *_built_short(code)]), None)


def _built_short(code: Code) -> list[Location]:
    """Lines that make a parameter of a tensor in float16."""
    return [
        place
        for place, node in code.calls("Parameter")
        if any(isinstance(part, ast.Call) and part is not node and _makes_short(part) for part in ast.walk(node))
    ]


def _makes_short(call: ast.Call) -> bool:
    return dotted(call.func).rpartition(".")[2] == "HalfTensor" or _is_short(call)


def _is_short(call: ast.Call) -> bool:
    if dotted(call.func).endswith("half"):
        return not call.args
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(dotted(value).rpartition(".")[2] in _SHORT for value in given)


def _model_of(code: Code, place: Location, call: ast.Call) -> set[str]:
    """The names that a cast may be about: what it is called on, and what its result is assigned to."""
    statement = code.statement(place)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    owner = dotted(call.func).rpartition(".")[0]
    return {owner, *(dotted(target) for target in targets)} - {""}
