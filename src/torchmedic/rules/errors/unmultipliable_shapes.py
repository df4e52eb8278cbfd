"""A linear layer or matrix product whose input has the wrong last dimension."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, LayerBuilt, Location, ModuleFact, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules._code import receiver
from torchmedic.rules.errors._handing import Handed, handed_at
from torchmedic.rules.errors._numbers import computed_at
from torchmedic.rules.errors._reading import (
    also,
    built_at,
    crash_in,
    described,
    layer_in,
    layer_input,
    layer_name,
    quoted,
    said,
    setting,
    shape,
    short_type,
    tensors_on_line,
    user_line,
)
from torchmedic.rules.errors._told_sizes import ToldSizes

_PRODUCT = r"shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)"
_BATCHED = r"Expected size for first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]"
_VECTOR = r"size mismatch, got input \((\d+)\), mat \((\d+)x(\d+)\), vec \((\d+)\)"


class UnmultipliableShapes(Rule):
    """The inner dimensions of a matrix product differ."""

    code = "ERR002"
    name = "unmultipliable-shapes"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message says that shapes cannot be multiplied"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, _PRODUCT, _BATCHED, _VECTOR)
        if crash is None or match is None:
            return
        line = user_line(crash)
        layer = layer_in(crash)
        given = layer_input(crash)
        wanted = setting(layer, "in_features") if layer is not None else None
        if layer is not None and given is not None and wanted is not None:
            turned = len(given.shape) == 2 and given.shape[0] == wanted != given.shape[1]
            yield self._at_layer(run, _model_call(crash) if turned else line, layer, given, wanted, turned)
        elif (outer := _outer_layer(run, crash, match)) is not None:
            yield self._at_outer_layer(run, line, *outer)
        elif line is not None:
            yield self._at_product(run, crash, line, match.groups())

    def _at_layer(
        self, run: Run, line: Location | None, layer: ModuleFact, given: TensorSummary, wanted: int, turned: bool
    ) -> Diagnosis:
        name = layer_name(layer)
        built = built_at(run, layer)
        flat = _flatten_from(given.shape, wanted)
        computed = computed_at(run, layer, "in_features") if flat is None and not turned else None
        handed = handed_at(run, layer, "in_features") if flat is None and not turned and computed is None else None
        at_layer = line if flat is not None or turned or built is None else built
        where = computed or (handed.where if handed is not None else at_layer)
        out = layer.settings.get("out_features", "…")
        cure = (
            Remedy(title=f"turn the input: {shape(given.shape[::-1])} would fit `{name}`")
            if turned
            else Remedy(
                title=f"flatten before `{name}`: `x = x.flatten({flat})` makes "
                f"{shape((*given.shape[:flat], wanted))} of {shape(given.shape)}"
            )
            if flat is not None
            else _corrected(name, layer, given.shape[-1])
            if computed is not None
            else Remedy(title=f"pass the arguments in the order of the parameters: {_order(handed)}")
            if handed is not None and handed.crossed
            else Remedy(title=f"write `{call[1]}` instead of `{call[0]}`")
            if handed is not None and (call := handed.rewritten(given.shape[-1])) is not None
            else Remedy(
                title=f"build `{name}` with `in_features={given.shape[-1]}`: "
                f"`{short_type(layer.type)}({given.shape[-1]}, {out})`",
                detail=f"or change what comes before it, so that the last dimension becomes {wanted}",
            )
        )
        return self.diagnose(
            headline=f"`{name}` takes {wanted} features, but its input {shape(given.shape)} "
            f"has {given.shape[-1] if given.shape else 'no'} in the last dimension",
            # Who handed the number in is read from the text of the script.
            confidence="proven" if handed is None or handed.is_seen else "likely",
            where=where,
            label="the input arrives unflattened"
            if flat is not None
            else "the input arrives turned"
            if turned
            else f"{wanted} is worked out here"
            if computed is not None
            else handed.label(wanted)
            if handed is not None
            else f"`in_features` is {wanted}",
            also=also((built, f"`{name}` is built here"), (line, "and is called here"), but=where),
            culprit=Culprit(module=name, tensor="input", phase="forward", op="linear"),
            evidence=(
                f"`{name}` is {short_type(layer.type)}(in_features={wanted}, out_features={out}); its input is {given}",
                *_sizes(given, wanted, flat),
            ),
            remedies=(cure,),
        )

    def _at_outer_layer(
        self, run: Run, line: Location | None, layer: ModuleFact, given: tuple[int, int], wanted: int
    ) -> Diagnosis:
        """A layer of a library that is made of others: what was told to it is what can be changed."""
        name, got = layer_name(layer), given[-1]
        where = built_at(run, layer) or line
        wide = _wider_by_heads(run, got)
        return self.diagnose(
            headline=f"`{name}` takes {wanted} features, but its input {shape(given)} has {got} in the last dimension",
            confidence="proven",
            where=where,
            label=f"`in_channels` is {wanted}",
            also=also((line, "and is called here"), but=where),
            culprit=Culprit(module=name, tensor="input", phase="forward", op="linear"),
            evidence=(f"`{wide[0]}` joins its {wide[2]} heads of {wide[1]}: {got} features come out",) if wide else (),
            remedies=(Remedy(title=f"build `{name}` with `in_channels={got}`"),),
        )

    def _at_product(self, run: Run, crash: Crash, line: Location, sizes: tuple[str, ...]) -> Diagnosis:
        if crash.source == "text" and len(sizes) == 4 and crash.frames[-1].location.file.endswith("linear.py"):
            return self._told_layer(crash, line, ToldSizes(*map(int, sizes)))
        operands = tensors_on_line(run, crash.user_frame)
        batched = "batch2" in crash.message
        needed, got = (sizes[1], sizes[3]) if batched else (sizes[1], sizes[2])
        last = operands[-1][1].shape[-1:] if operands else ()
        turned = len(operands) >= 2 and last == operands[0][1].shape[-1:] and last == (int(needed),)
        told = ToldSizes(*map(int, sizes)) if crash.source == "text" and not batched and len(sizes) == 4 else None
        title = (
            f"transpose the second factor: `{receiver(operands[-1][0])}.transpose(-2, -1)`"
            if turned
            else "make the last dimension of the first factor equal to the last but one of the second"
        )
        return self.diagnose(
            headline=f"this matrix product needs {needed} rows on the right, but gets {got}",
            confidence="proven",
            where=line,
            culprit=Culprit(tensor=operands[0][0] if operands else None, phase="forward", op="matmul"),
            evidence=(described(operands),) if operands else told.evidence if told is not None else (),
            remedies=(Remedy(title=title), *(told.cures_if_linear if told is not None else ())),
        )

    def _told_layer(self, crash: Crash, line: Location, sizes: ToldSizes) -> Diagnosis:
        """A linear layer of a pasted traceback, known by the file it failed in and the sizes of the message."""
        name = _called_layer(crash, line)
        return self.diagnose(
            headline=f"the input of {quoted(name)}, which takes {sizes.wanted} features, is not flattened"
            if sizes.looks_unflattened
            else f"{quoted(name)} takes {sizes.wanted} features, but its input has {sizes.got}",
            confidence=sizes.confidence,
            where=line,
            culprit=Culprit(module=name, tensor="input", phase="forward", op="linear"),
            evidence=sizes.evidence,
            remedies=sizes.cures(quoted(name)),
        )


def _called_layer(crash: Crash, line: Location) -> str:
    """The layer that a line calls, where it calls one only and nothing but torch's call of it lies between."""
    calls = re.findall(r"\bself\.(\w+)\(", line.source)
    last = max(i for i, frame in enumerate(crash.frames) if frame.location == line)
    between = crash.frames[last + 1 : -1]
    direct = all(frame.location.file.replace("\\", "/").endswith("nn/modules/module.py") for frame in between)
    return f"self.{calls[0]}" if len(calls) == 1 and direct else "the layer"


def _outer_layer(run: Run, crash: Crash, match: re.Match[str]) -> tuple[ModuleFact, tuple[int, int], int] | None:
    """The layer that the user's line called, where the product failed somewhere inside it, and what it was given."""
    frames = list(crash.frames)
    last = max((i for i, f in enumerate(frames) if f.is_user), default=-1)
    layer = next((f.module for f in frames[last + 1 :] if f.module is not None), None)
    wanted = setting(layer, "in_channels") if layer is not None else None
    if layer is None or len(match.groups()) != 4 or wanted != int(match[3]) or "torch.nn." in layer.type:
        return None
    on_line = [t.shape[-1:] for _, t in tensors_on_line(run, crash.user_frame)]
    given = (int(match[1]), int(match[2]))
    return (layer, given, wanted) if given[1:] in on_line or (wanted,) not in on_line else None


def _wider_by_heads(run: Run, got: int) -> tuple[str, int, int] | None:
    """A layer with several heads whose outputs, side by side, make this many features."""
    for built in run.all(LayerBuilt):
        width, heads = built.settings.get("out_channels", ""), built.settings.get("heads", "")
        if width.isdigit() and heads.isdigit() and int(heads) > 1 and int(width) * int(heads) == got:
            return built.path, int(width), int(heads)
    return None


def _order(handed: Handed) -> str:
    return f"`{handed.parameter}={handed.parameter}`, by name, cannot be mistaken"


def _corrected(name: str, layer: ModuleFact, got: int) -> Remedy:
    out = layer.settings.get("out_features", "…")
    return Remedy(
        title=f"correct what is computed here: `{name}` has to be built with `in_features={got}`",
        detail=f"or let `nn.LazyLinear({out})` take the number from its first input",
    )


def _model_call(crash: Crash) -> Location | None:
    """The line that called the outermost model: what is turned was turned before it."""
    frames = [f for f in crash.frames if f.is_user and f.location.function.rpartition(".")[2] != "forward"]
    return frames[-1].location if frames else user_line(crash)


def _flatten_from(sizes: tuple[int, ...], wanted: int) -> int | None:
    """From which dimension on the input has to be flattened to have `wanted` features."""
    starts = range(1, len(sizes) - 1)
    return next((start for start in starts if math.prod(sizes[start:]) == wanted), None)


def _sizes(given: TensorSummary, wanted: int, flat: int | None) -> tuple[str, ...]:
    if flat is not None:
        return (f"{' x '.join(map(str, given.shape[flat:]))} = {wanted}: flattened, it fits",)
    if wanted in given.shape[:-1]:
        return (
            f"dimension {given.shape.index(wanted)} of the input has {wanted}: the dimensions are in another order",
        )
    if given.numel == wanted:
        return (f"the whole input has {wanted} values: the batch dimension is missing",)
    return ()
