"""`cat` or `stack` of tensors whose shapes differ where they must not."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._mixing import reshaped_batch
from torchmedic.rules.errors._reading import also, crash_in, described, said, shape, tensors_on_line, user_line
from torchmedic.rules.errors._syntax import Code

_CAT = r"Sizes of tensors must match except in dimension (\d+)\. (?:Expected size|Got) (\d+) (?:but got size|and) (\d+)"
_STACK = (
    r"stack expects each tensor to be equal size, but got \[([\d, ]*)\] at entry \d+ and \[([\d, ]*)\] at entry (\d+)"
)
_LONE = r"zero-dimensional tensor \(at position (\d+)\) cannot be concatenated"
_RANK = r"Tensors must have same number of dimensions: got (\d+) and (\d+)"


class UnjoinableShapes(Rule):
    """The tensors to be joined differ in a dimension other than the one they are joined along."""

    code = "ERR029"
    name = "unjoinable-shapes"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message names the tensors or sizes of `cat` or `stack`, in the user's own call"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        match = said(crash, _CAT, _STACK, _RANK, _LONE)
        if crash is None or line is None or match is None or _is_collate(crash) or reshaped_batch(run, crash):
            return
        mentioned = tensors_on_line(run, crash.user_frame)
        code = Code.of(run)
        origins = [(code.last_assignment(n.partition("[")[0], line), n) for n, _ in mentioned[:3]]
        yield self.diagnose(
            headline=_headline(match.re.pattern, match.groups(), mentioned),
            confidence="proven",
            where=line,
            also=also(
                *((o.location, f"`{n}` comes from here") for o, n in origins if o is not None and o.how != "argument"),
                but=line,
            )[:2],
            culprit=Culprit(tensor=mentioned[0][0] if mentioned else None, phase="forward", op="cat"),
            evidence=(described(mentioned),) if mentioned else (),
            remedies=(_cure(match.re.pattern, match.groups()),),
        )


def _is_collate(crash: Crash) -> bool:
    return any("collate" in f.location.function for f in crash.frames)


def _headline(pattern: str, said_: tuple[str, ...], mentioned: list[tuple[str, TensorSummary]]) -> str:
    names = " and ".join(f"`{n}`" for n, _ in mentioned[:2]) or "the tensors"
    if pattern == _CAT:
        return f"`cat` along dimension {said_[0]}: {names} differ elsewhere, {said_[1]} against {said_[2]}"
    if pattern == _STACK:
        first, other = ([int(n) for n in part.split(",") if n.strip()] for part in said_[:2])
        return f"`stack` got {shape(first)} first and {shape(other)} at entry {said_[2]}"
    if pattern == _LONE:
        return f"`cat` got a tensor without a dimension at position {said_[0]}"
    return f"`cat` got tensors of {said_[0]} and {said_[1]} dimensions"


def _cure(pattern: str, said_: tuple[str, ...]) -> Remedy:
    if pattern == _STACK:
        return Remedy(title="pad to one length first: `torch.nn.utils.rnn.pad_sequence(…, batch_first=True)`")
    if pattern == _LONE:
        return Remedy(
            title="name the dimension to take out, `squeeze(-1)`: a bare `squeeze()` takes a batch of one out as well",
            detail="single numbers are joined by `torch.stack`",
        )
    if pattern == _CAT and abs(int(said_[1]) - int(said_[2])) == 1:
        return Remedy(
            title="bring the input to a size that every stage can halve, or crop or pad the larger one before `cat`",
            detail="an odd size is rounded when it is halved, and doubling does not bring it back",
        )
    if pattern == _RANK:
        return Remedy(title="give both the same number of dimensions with `unsqueeze`")
    return Remedy(
        title="join along the dimension that differs, or bring the others to one size first",
        detail="skip connections need padding or cropping when a size is odd",
    )
