"""Batches that hold far fewer classes than a random draw would: the samples come sorted by label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from torchmedic.facts import LoaderSeen, LossCall, LossPairing, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import CLASS_LOSSES

_LEAST_CALLS = 4
_LEAST_SAMPLES = 16
_MOST_SHARE = 0.5


class FewClassesPerBatch(Rule):
    """In all steps looked at, a batch held at most half of the classes that chance would give it."""

    code = "DAT051"
    name = "few-classes-per-batch"
    symptoms = (Symptom.LOSS_NOISY, Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "each batch has one or two classes, other batches have others"
    needs = (LossCall,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        if any(loader.trained for loader in run.all(LoaderSeen)):
            return
        for calls in _by_line(run):
            pooled: Counter[str] = Counter()
            for call in calls:
                pooled.update(call.counts)
            if len(calls) < _LEAST_CALLS or not all(_is_poor(call, pooled) for call in calls):
                continue
            first = calls[0]
            loop = next((p.loop for p in run.all(LossPairing) if p.where == first.where and p.loop), None)
            shown = "; ".join(f"step {c.step}: {', '.join(sorted(c.counts, key=_number))}" for c in calls[:6])
            yield self.diagnose(
                headline=f"a batch holds {_classes(calls)} of {len(pooled)} classes: samples come sorted by label",
                confidence="likely",
                step=first.step,
                where=loop or first.where,
                label="the order of the samples",
                also=(Also(location=first.where, why=f"`{first.names[1]}` here"),) if loop and first.where else (),
                culprit=Culprit(op=first.function, phase="data", tensor=first.names[1]),
                evidence=(
                    f"classes in `{first.names[1]}`: {shown}",
                    f"a random batch of {sum(first.counts.values())} would hold about {_expected(first, pooled):.0f}",
                ),
                remedies=(Remedy(title="draw the rows in random order: `torch.randperm(n)`, `shuffle=True`"),),
            )


def _by_line(run: Run) -> Iterator[list[LossCall]]:
    groups: dict[object, list[LossCall]] = {}
    for call in run.all(LossCall):
        if call.function in CLASS_LOSSES and call.counts and call.target_picked:
            groups.setdefault((str(call.where), call.names), []).append(call)
    yield from groups.values()


def _expected(call: LossCall, pooled: Counter[str]) -> float:
    """How many classes a batch of this size would hold by chance."""
    samples, total = sum(call.counts.values()), sum(pooled.values())
    return sum(1 - (1 - number / total) ** samples for number in pooled.values())


def _is_poor(call: LossCall, pooled: Counter[str]) -> bool:
    samples = sum(call.counts.values())
    return samples >= _LEAST_SAMPLES and len(call.counts) <= round(_MOST_SHARE * _expected(call, pooled))


def _classes(calls: list[LossCall]) -> str:
    low, high = (f(len(c.counts) for c in calls) for f in (min, max))
    return f"{low}" if low == high else f"{low} to {high}"


def _number(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return 0.0
