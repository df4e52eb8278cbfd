"""Labels padded with the number of a real class: the loss learns from places where there is nothing."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import PaddedLabels, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_SHARE = 0.05
_LEAST_REAL = 0.01
_LARGE_SHARE = 0.3


class PaddingCountedAsClass(Rule):
    """Wherever the tokens are padding the label is the same real class, and the loss does not ignore it."""

    code = "LOS050"
    name = "padding-counted-as-class"
    symptoms = (Symptom.SCORE_LOW, Symptom.SCORE_TOO_GOOD, Symptom.LOSS_FLAT)
    tell_apart = "targets at padded places are a class that real places have too, and `ignore_index` is another number"
    needs = (PaddedLabels,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        by_line: dict[str, list[PaddedLabels]] = {}
        for seen in run.all(PaddedLabels):
            by_line.setdefault(str(seen.where), []).append(seen)
        for calls in by_line.values():
            if len(calls) < 2 or len({call.label for call in calls}) != 1:
                continue
            if all(map(_is_counted, calls)):
                yield self._told(calls)
            elif all(map(_is_learned, calls)) and _share(calls) >= _LARGE_SHARE:
                yield self._learned(calls)

    def _learned(self, calls: list[PaddedLabels]) -> Diagnosis:
        first = calls[0]
        share = _share(calls)
        where = first.padded_at or first.built or first.where
        return self.diagnose(
            headline=f"{100 * share:.0f} % of the labels in `{first.names[1]}` are padding, which the loss counts",
            severity="warning",
            confidence="likely",
            step=first.step,
            where=where,
            label=f"the padding {first.label} is among the labels"
            if where == first.padded_at
            else f"ignores {first.ignore_index} only",
            also=(
                Also(
                    location=first.where,
                    why="the loss" if where == first.built else f"`{first.function}` ignores {first.ignore_index} only",
                ),
            )
            if first.where is not None and first.where != where
            else (),
            culprit=Culprit(op=first.function, phase="forward", tensor=first.names[1]),
            evidence=(
                f"in {len(calls)} steps looked at, {first.label} stood for nothing but padding: {first.padded} of "
                f"{first.positions} counted places in step {first.step}",
                "most of the loss is that of guessing the padding: it falls at once, and hides what is not learned"
                if share > 0.5
                else "this part of the loss falls at once, and hides what is not learned",
            ),
            remedies=(
                Remedy(title=f"`labels.masked_fill(input_ids == {first.label}, {first.ignore_index})`")
                if first.is_told
                else Remedy(title=f"tell the loss: `ignore_index={first.label}`"),
                Remedy(title="leave padded places out of the accuracy as well"),
            ),
        )

    def _told(self, calls: list[PaddedLabels]) -> Diagnosis:
        first = calls[0]
        share = _share(calls)
        where = first.padded_at or first.where
        target = first.names[1]
        filling = f"`{first.padded_by}`" if first.padded_by else "the padding"
        return self.diagnose(
            headline=f"{100 * share:.0f} % of the labels in `{target}` are padding, counted as class {first.label}",
            confidence="proven" if first.padded_at is not None else "likely",
            step=first.step,
            where=where,
            label=f"fills up with {first.label}, a real class",
            also=(Also(location=first.where, why=f"`{first.function}` ignores {first.ignore_index} only"),)
            if first.where is not None and first.where != where
            else (),
            culprit=Culprit(op=first.function, phase="forward", tensor=target),
            evidence=(
                f"in {len(calls)} steps looked at, the label was {first.label} wherever the token was the padding "
                f"{first.pad_token}: {first.padded} of {first.positions} counted places in step {first.step}",
                f"class {first.label} is a real one: {first.real} other places of that batch have it too",
                f"{filling} and `ignore_index={first.ignore_index}` do not agree: the loss counts the padding",
            ),
            remedies=(
                Remedy(title=f"pad the labels with `padding_value={first.ignore_index}`, which the loss ignores")
                if "pad_sequence" in first.padded_by
                else Remedy(title=f"fill the labels up with {first.ignore_index}, which the loss ignores"),
                Remedy(title="leave padded places out of the accuracy as well"),
            ),
        )


def _is_learned(seen: PaddedLabels) -> bool:
    """Padding that ends nothing, of a model that learns the next token."""
    return seen.is_token and (seen.is_told or not seen.is_ending)


def _share(calls: list[PaddedLabels]) -> float:
    return sum(call.padded for call in calls) / max(1, sum(call.positions for call in calls))


def _is_counted(seen: PaddedLabels) -> bool:
    """A real class, not the mark that ends a text, at a share of places that matters."""
    real_enough = seen.real >= _LEAST_REAL * (seen.positions - seen.padded)
    return (
        seen.label is not None
        and not seen.is_token
        and seen.real > 0
        and real_enough
        and not seen.is_ending
        and seen.padded >= _LEAST_SHARE * seen.positions
    )
