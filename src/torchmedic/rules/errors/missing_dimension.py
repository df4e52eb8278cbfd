"""An input without its batch or channel dimension, or with one too many."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import (
    crash_in,
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

_PATTERNS = (
    r"Expected (?P<ranks>[^.]*?)input to (?:\w+), but got input of size: \[(?P<sizes>[\d, ]*)\]",
    r"expected (?P<ranks>\dD(?:(?:,| or) ?\dD)*)(?: \([^)]*\))? (?:or \dD \([^)]*\) )?input \(got (?P<got>\d)D input\)",
    r"(?:LSTM|GRU|RNN): Expected input to be (?P<ranks>2D or 3D), got (?P<got>\d)D",
    r"input must have (?P<ranks>\d) dimensions, got (?P<got>\d)",
    r"(?P<ranks>query should be unbatched 2D or batched 3D) tensor but received (?P<got>\d)-D",
)


class MissingDimension(Rule):
    """The number of dimensions is not one that the layer takes."""

    code = "ERR023"
    name = "missing-dimension"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a layer says how many dimensions it expected"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, *_PATTERNS)
        line = user_line(crash) if crash is not None else None
        if crash is None or match is None or line is None:
            return
        layer = layer_in(crash)
        given = layer_input(crash)
        text = match.groupdict().get("sizes")
        sizes = given.shape if given is not None else tuple(int(n) for n in (text or "").split(",") if n.strip())
        rank = len(sizes) or int(match.groupdict().get("got") or 0)
        ranks = sorted({int(n) for n in re.findall(r"\d", match["ranks"])})
        wanted = max(ranks, default=rank + 1)
        name = layer_name(layer) if layer is not None else "the layer"
        variable = _variable(tensors_on_line(run, crash.user_frame), sizes)
        accepted = " or ".join(f"{n}D" for n in ranks)
        yield self.diagnose(
            headline=f"{quoted(name)} takes {accepted} input, but {quoted(variable)} is {rank}D"
            + (f": {shape(sizes)}" if sizes else ""),
            confidence="proven",
            where=line,
            culprit=Culprit(module=name, tensor=variable, phase="forward"),
            evidence=(f"`{name}` is {short_type(layer.type)}({_told(layer.settings)})",) if layer is not None else (),
            remedies=(_cure(variable, sizes, rank, wanted, setting(layer, "in_channels") if layer else None),),
        )


def _variable(found: list[tuple[str, TensorSummary]], sizes: tuple[int, ...]) -> str:
    return next((n for n, t in found if t.shape == sizes), "its input")


def _told(settings: dict[str, str]) -> str:
    keys = ("in_channels", "out_channels", "num_features", "input_size", "hidden_size", "batch_first")
    return ", ".join(f"{k}={settings[k]}" for k in keys if k in settings)


def _cure(name: str, sizes: tuple[int, ...], rank: int, wanted: int, channels: int | None) -> Remedy:
    variable = name if name.isidentifier() else "x"
    if rank > wanted:
        ones = [i for i, n in enumerate(sizes) if n == 1]
        title = (
            f"drop the extra dimension: `{variable}.squeeze({ones[0]})`"
            if ones
            else f"merge dimensions to get {wanted}"
        )
        return Remedy(title=title)
    if channels == 1 and (not sizes or 1 not in sizes[:2]):
        result = (*sizes[:1], 1, *sizes[1:])
        return Remedy(title=f"add the channel dimension: `{variable}.unsqueeze(1)` gives {shape(result)}")
    return Remedy(title=f"add the missing dimension: `{variable}.unsqueeze(0)` gives {shape((1, *sizes))}")
