"""A convolution or normalisation whose input has another number of channels."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, ModuleFact, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._axes import reordering_behind
from torchmedic.rules.errors._handing import Handed, handed_at
from torchmedic.rules.errors._numbers import computed_at
from torchmedic.rules.errors._reading import (
    also,
    built_at,
    crash_in,
    layer_in,
    layer_input,
    layer_name,
    quoted,
    said,
    shape,
    short_type,
    user_line,
)
from torchmedic.rules.errors._syntax import Code

_CONV = r"expected input\[([\d, ]+)\] to have (\d+) channels, but got (\d+) channels"
_NORM = r"running_mean should contain (\d+) elements not (\d+)"


class ChannelMismatch(Rule):
    """The channel dimension of the input is not the one that the layer was built for."""

    code = "ERR003"
    name = "channel-mismatch"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a convolution or batch norm says how many channels it expected"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, _CONV, _NORM)
        line = user_line(crash) if crash is not None else None
        if crash is None or match is None or line is None:
            return
        conv = match.re.pattern == _CONV
        got, wanted = (int(match[3]), int(match[2])) if conv else (int(match[1]), int(match[2]))
        layer = layer_in(crash)
        given = layer_input(crash)
        sizes = given.shape if given is not None else tuple(int(n) for n in match[1].split(",")) if conv else ()
        name = layer_name(layer) if layer is not None else "the layer"
        built = built_at(run, layer) if layer is not None else None
        permuted = sizes[-1:] == (wanted,) and len(sizes) in (3, 4, 5) and got != wanted
        batchless = conv and len(sizes) > 1 and sizes[0] == wanted
        word = "in_channels" if conv else "num_features"
        computed = computed_at(run, layer, word) if not permuted and not batchless else None
        handed = handed_at(run, layer, word) if not permuted and not batchless and computed is None else None
        at_layer = line if permuted or batchless or built is None else built
        moved = reordering_behind(Code.of(run), sizes, wanted) if not batchless else None
        where = moved.where if moved is not None else computed or (handed.where if handed is not None else at_layer)
        yield self.diagnose(
            headline=f"{quoted(name)} takes {wanted} channels, but its input {shape(sizes)} has {got}",
            # Which call turned this very input, or handed the number in, is read from the text of the script.
            confidence="proven" if moved is None and (handed is None or handed.is_seen) else "likely",
            where=where,
            label=f"`{moved.instead}` would bring the {wanted} channels first"
            if moved is not None
            else "the channels come last here"
            if permuted
            else f"{wanted} is worked out here"
            if computed is not None
            else handed.label(wanted)
            if handed is not None
            else f"built for {wanted} channels"
            if where == built
            else "",
            also=also((built, f"`{name}` is built here"), (line, "and is called here"), but=where),
            culprit=Culprit(module=name, tensor="input", phase="forward", op="convolution" if conv else "batch_norm"),
            evidence=tuple(_evidence(layer, wanted, permuted)),
            remedies=(
                Remedy(title=f"write `{moved.instead}` instead of `{moved.written}`")
                if moved is not None
                else _cure(name, conv, wanted, got, permuted, len(sizes), handed),
            ),
        )


def _evidence(layer: ModuleFact | None, wanted: int, permuted: bool) -> Iterator[str]:
    if layer is not None:
        yield f"`{layer_name(layer)}` is {short_type(layer.type)} with {_told(layer.settings)}"
    if permuted:
        yield f"the last dimension has {wanted}: the layout is channels-last"


def _told(settings: dict[str, str]) -> str:
    kept = [f"{k}={settings[k]}" for k in ("in_channels", "out_channels", "num_features", "groups") if k in settings]
    return ", ".join(kept)


def _cure(name: str, conv: bool, wanted: int, got: int, permuted: bool, rank: int, handed: Handed | None) -> Remedy:
    if permuted:
        order = ", ".join(map(str, [0, rank - 1, *range(1, rank - 1)]))
        return Remedy(title=f"move the channels to dimension 1: `x = x.permute({order})`")
    word = "in_channels" if conv else "num_features"
    if handed is not None and (call := handed.rewritten(got)) is not None:
        return Remedy(title=f"write `{call[1]}` instead of `{call[0]}`")
    detail = "or convert the images to three channels" if (wanted, got) == (3, 1) else ""
    detail = "or convert the images to grey" if (wanted, got) == (1, 3) else detail
    return Remedy(title=f"build `{name}` with `{word}={got}`", detail=detail)
