"""Tensors of one operation on different devices."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, ModelAtCrash, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import (
    crash_in,
    lacks_data,
    layer_in,
    layer_name,
    quoted,
    said,
    tensors,
    tensors_on_line,
    user_line,
)

_PATTERNS = (
    r"Expected all tensors to be on the same device.*?found at least two devices, (\S+?)(?: and |, )(\S+?)!",
    r"Expected all tensors to be on the same device.*? is on (\S+?), different from other tensors on (\S+?)[ ,(]",
    r"Expected all tensors to be on the same device",
    r"Input type \(torch\.\w+Tensor\) and weight type \(torch\.(cuda)\.\w+\) should be the same",
    r"Input type \(torch\.(cuda)\.\w+Tensor\) and weight type \(torch\.\w+Tensor\) should be the same",
    r"Tensor on device (\S+) is not on the expected device (\S+)!",
    r"indices should be either on (\S+) or on the same device as the indexed tensor \((\S+)\)",
    r"tensors? .*are on different devices|Tensor for argument .* is on (\S+), but expected .* on (\S+)",
)


class DeviceMismatch(Rule):
    """One tensor was left on another device than the rest."""

    code = "ERR011"
    name = "device-mismatch"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message names two devices"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, *_PATTERNS)
        line = user_line(crash) if crash is not None else None
        if crash is None or match is None or line is None or crash.type_name != "RuntimeError":
            return
        if re.search(r"\bmeta\b", match[0]) and lacks_data(run, crash):
            return  # parameters without data have a rule of their own
        layer = layer_in(crash)
        there = _device_of_model(run)
        mentioned = tensors_on_line(run, crash.user_frame)
        odd = _odd(mentioned, there) or _odd(list(tensors(crash.user_frame)), there)
        left = [f"{m.name}.{name}" for m in run.all(ModelAtCrash) for name in m.off_device]
        name = odd[0] if odd else left[0].partition(" ")[0] if left else "a tensor"
        home = odd[1].device if odd else left[0].partition("(")[2].rstrip(")") if left else "another device"
        rest = there if there and there != home else next((d for d in match.groups() if d and d != home), "the other")
        yield self.diagnose(
            headline=f"{quoted(name)} is on {home}, the rest of this operation on {rest}",
            confidence="proven" if odd or left else "likely",
            where=line,
            culprit=Culprit(tensor=name, module=layer_name(layer) if layer else None, phase="forward"),
            evidence=tuple(_evidence(run, mentioned, left)),
            remedies=tuple(_cures(name, rest, bool(odd), left)),
        )


def _device_of_model(run: Run) -> str:
    counts = [m.devices for m in run.all(ModelAtCrash) if m.devices]
    return max(counts[0], key=lambda d: counts[0][d]) if counts else ""


def _odd(found: list[tuple[str, TensorSummary]], there: str) -> tuple[str, TensorSummary] | None:
    homes = [t.device for _, t in found if t.device != "numpy"]
    usual = there or (max(set(homes), key=homes.count) if homes else "")
    return next(((n, t) for n, t in found if t.device not in ("numpy", usual)), None)


def _evidence(run: Run, mentioned: list[tuple[str, TensorSummary]], left: list[str]) -> Iterator[str]:
    for model in run.all(ModelAtCrash):
        if model.devices:
            yield f"the parameters of `{model.name}` are on {', '.join(model.devices)}"
    if mentioned:
        yield ", ".join(f"`{n}` is on {t.device}" for n, t in mentioned[:6])
    if left:
        yield f"left behind in the model: {', '.join(left[:4])}"


def _cures(name: str, rest: str, odd: bool, left: list[str]) -> Iterator[Remedy]:
    if odd:
        yield Remedy(title=f"move it before use: `{name} = {name}.to({rest!r})`")
    if left:
        yield Remedy(title="call `.to(device)` on the whole model after all layers and buffers exist")
    if not odd:
        yield Remedy(
            title="create tensors where the model is: `torch.zeros(…, device=x.device)`",
            detail="a plain tensor attribute does not move with `.to(device)`: use `register_buffer`",
        )
