"""A language model that can see the token it is asked to predict."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TokensAhead
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_SEEN = 2


class NextTokenVisible(Rule):
    """The answer at a position was computed from the input that holds its target."""

    code = "LOS040"
    name = "next-token-visible"
    symptoms = (Symptom.LOSS_ZERO, Symptom.SCORE_TOO_GOOD)
    tell_apart = "the gradient of an answer reaches inputs that come after it"
    needs = (TokensAhead,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = [seen for seen in run.all(TokensAhead) if seen.offset == 1]
        leaking = [seen for seen in found if seen.position + 1 in seen.seen]
        if len(leaking) >= _LEAST_SEEN and len(leaking) == len(found):
            yield self._diagnosis(leaking[0])

    def _diagnosis(self, seen: TokensAhead) -> Diagnosis:
        ahead = [i for i in seen.seen if i > seen.position]
        by_one = ahead == [seen.position + 1]
        masked = seen.mask is not None and seen.mixer == "attention"
        where = seen.mask if masked else seen.mixed_at or seen.where
        return self.diagnose(
            headline=f"the model sees the token that it must predict through {seen.mixer}"
            if seen.mixer
            else "the model sees the token that it must predict",
            confidence="proven",
            step=seen.step,
            where=where,
            label=_label(by_one, masked, seen.mixer),
            also=(Also(location=seen.where, why="the loss compares with the next token"),) if seen.where else (),
            culprit=Culprit(op=seen.mixer or "mask", phase="forward", tensor="mask" if masked else None),
            evidence=(
                f"`{seen.names[1]}` is the input one position later: the target of position {seen.position} is the "
                f"token at position {seen.position + 1}",
                f"followed back by its gradient, the answer at position {seen.position} of {seen.length} depends on "
                + (f"position {ahead[0]}" if by_one else f"positions {ahead[0]} to {ahead[-1]}"),
                "copying the token brings the loss near 0; when tokens are generated there is nothing to copy",
            ),
            remedies=tuple(_remedies(by_one, masked, seen.mixer)),
        )


def _label(by_one: bool, masked: bool, mixer: str) -> str:
    if masked:
        return "the mask lets through one position too many" if by_one else "this mask does not hide later positions"
    return "no later position is hidden here" if mixer == "attention" else "reads in both directions"


def _remedies(by_one: bool, masked: bool, mixer: str) -> Iterator[Remedy]:
    if mixer.endswith("(bidirectional=True)"):
        yield Remedy(title="build it with `bidirectional=False`")
    elif masked and by_one:
        yield Remedy(title="hide every later position: `torch.triu(torch.ones(n, n), diagonal=1).bool()` is True there")
    else:
        yield Remedy(title="pass a causal mask: `is_causal=True`, or `mask=triu(ones(n, n), 1).bool()`")
        yield Remedy(title="check its meaning: True hides in `attn_mask` of nn layers, and shows in SDPA")
