"""Half precision on a processor without that kernel."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, ModelAtCrash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._dtypes import first_holding, kinds_said
from torchmedic.rules.errors._reading import also, crash_in, layer_in, layer_name, said, user_line
from torchmedic.rules.errors._syntax import Code

_KERNEL = r"\"(\w+)\" not implemented for '(Half|BFloat16)'"
_HALVES = ("float16", "bfloat16")


class HalfOnCpu(Rule):
    """float16 where only float32 works: a missing CPU kernel, or half of the model converted."""

    code = "ERR010"
    name = "half-on-cpu"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message names Half or BFloat16"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        kernel = said(crash, _KERNEL)
        kinds = kinds_said(crash)
        half = next((k for k in kinds or () if k in _HALVES), None)
        if crash is None or line is None or (kernel is None and half is None):
            return
        dtype = half or {"half": "float16"}.get((kernel[2] if kernel else "").lower(), "bfloat16")
        layer = layer_in(crash)
        made = next((p for p, _ in Code.of(run).calls("half", "bfloat16")), None)
        models = [m for m in run.all(ModelAtCrash) if m.dtypes and dtype in m.dtypes]
        where = made or line
        held = first_holding(crash, dtype)
        what = f"`{models[0].name}`" if models else f"`{held[1]}`" if held is not None else "a tensor"
        headline = (
            f"`{kernel[1]}` has no {dtype} version for the CPU, and {what} is {dtype}"
            if kernel is not None
            else f"{what} is {dtype}, but what it meets is {next(k for k in kinds or ('', '') if k != dtype)}"
        )
        yield self.diagnose(
            headline=headline,
            confidence="proven",
            where=where,
            label=f"converted to {dtype} here" if made else "",
            also=also((line, "and used here"), but=where),
            culprit=Culprit(
                tensor=held[1] if held else None, module=layer_name(layer) if layer else None, phase="forward"
            ),
            evidence=tuple(f"`{m.name}` has parameters of {', '.join(m.dtypes or ())}" for m in models[:2]),
            remedies=(
                Remedy(title="keep the model in float32 and let `torch.autocast` choose: it converts on both sides"),
                Remedy(title="or convert the input to the model's type as well", detail=f"`.to(torch.{dtype})`")
                if kernel is None
                else Remedy(title="or use `torch.bfloat16`, which the CPU supports more widely"),
            ),
        )
