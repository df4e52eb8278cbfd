"""An attention mask that was built for other positions than the layer is given."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Frame, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, shape, tensors, tensors_on_line, user_line
from torchmedic.rules.errors._syntax import Code

_ATTENTION = (
    r"The shape of the \dD attn_mask is torch\.Size\(\[(?P<got>[\d, ]+)\]\), but should be \((?P<wanted>[\d, ]+)\)"
)
_PADDING = r"Expected key_padded_mask\.shape\[(?P<axis>[01])\] to be (?P<wanted>\d+), but got (?P<got>\d+)"
_MOST_NAMED = 3


class MaskOfOtherSize(Rule):
    """The mask of an attention layer does not have the size of what is attended to."""

    code = "ERR280"
    name = "mask-of-other-size"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message compares the shape of `attn_mask` or `key_padded_mask` with what it should be"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match, line = said(crash, _ATTENTION, _PADDING), user_line(crash) if crash is not None else None
        if crash is None or match is None or line is None:
            return
        name, sizes = _mask(run, crash, match)
        bound = Code.of(run).last_assignment(name, line) if name else None
        where = bound.location if bound is not None and bound.how == "assign" else line
        wanted = _numbers(match["wanted"])
        should = shape(wanted) if "axis" not in match.groupdict() else f"{wanted[0]} in dimension {match['axis']}"
        yield self.diagnose(
            headline=f"the mask {f'`{name}` ' if name else ''}is {shape(sizes)}, and has to be {should}",
            confidence="proven",
            where=where,
            label="built here" if where is not line else "",
            also=also((line, "given to the attention here"), but=where),
            culprit=Culprit(tensor=name or "attn_mask", phase="forward", op="attention"),
            evidence=tuple(_evidence(crash.user_frame, set(wanted) - set(sizes), set(sizes) - set(wanted))),
            remedies=(
                Remedy(title="build the mask from the very tensor that is attended to, after it has its last length"),
                *_meant(crash.user_frame, wanted),
            ),
        )


def _mask(run: Run, crash: Crash, match: re.Match[str]) -> tuple[str, tuple[int, ...]]:
    """The mask by the user's name for it, and its shape."""
    is_padding = "axis" in match.groupdict()
    given = "key_padding_mask" if is_padding else "attn_mask"
    held = (f.value(given) for f in reversed(crash.frames) if not f.is_user)
    value = next((v for v in held if v is not None and v.tensor is not None), None)
    sizes = value.tensor.shape if value is not None and value.tensor is not None else _numbers(match["got"])
    fitting = [n for n, t in tensors_on_line(run, crash.user_frame) if t.shape == sizes]
    fitting = [n for n in fitting if re.search(r"mask|pad|causal", n)] or fitting
    return (fitting[0] if len(fitting) == 1 else ""), sizes


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text))


def _evidence(frame: Frame | None, wanted: set[int], got: set[int]) -> Iterator[str]:
    """What in the failing function has the size that was needed, and what has the one that the mask was given."""
    for size, whose in ((wanted, "that was needed"), (got, "of the mask")):
        plain = [(n, t) for n, t in tensors(frame) if "." not in n and not re.search(r"mask|pad", n)]
        having = [(n, t) for n, t in plain if size & set(t.shape[1:])][:_MOST_NAMED]
        if having and len(size) == 1:
            yield f"{min(size)}, the size {whose}, is in {', '.join(f'`{n}` {shape(t.shape)}' for n, t in having)}"


def _meant(frame: Frame | None, wanted: tuple[int, ...]) -> Iterator[Remedy]:
    """A whole number of the function that is the size needed."""
    values = frame.values if frame is not None else ()
    named = [v.name for v in values if v.type == "int" and len(set(wanted)) == 1 and v.text == str(wanted[0])]
    if len(named) == 1:
        yield Remedy(title=f"`{named[0]}` is {wanted[0]} there: build it for `{named[0]}`")
