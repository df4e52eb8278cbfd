"""A number that stands for "missing" in the data, and goes into means, spreads and the model as a number."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import HeldCode, InputSeen, Location, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.data._columns import column_of, far_input

_USUAL = (9.0, 99.0, 200.0, 999.0, 9999.0, 99999.0, 32767.0, 32768.0, 65535.0, 65536.0, 1e20)
_LEAST_GAP = 30.0  # of a number that is no usual code


class MissingCodeInInput(Rule):
    """The same far-off number fills a share of a column of the data, and is there in what the first layer is given."""

    code = "DAT143"
    name = "missing-code-in-input"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "one number fills a share of a column of the input, many times as far off as all others are wide"
    needs = (HeldCode, InputSeen)
    folds = ("dominant-column", "saturated-activation", "dead-activation", "answers-unrelated-to-targets")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        fed = far_input(run)
        likely = [seen for seen in run.all(HeldCode) if abs(seen.value) in _USUAL or seen.gap >= _LEAST_GAP]
        # What was standardised holds the code as some fraction: the array that it was made of comes first.
        seen = max(likely, key=lambda one: (one.value == round(one.value), one.times), default=None)
        where = (seen.computed or seen.made) if seen is not None else None
        if seen is None or where is None or fed is None:
            return
        column, is_scaled = column_of(seen), seen.value != round(seen.value)
        share = seen.times / max(1, seen.total)
        yield self.diagnose(
            headline=f"{column} holds a scaled code for missing values: {seen.value:.4g}"
            if is_scaled
            else f"{seen.value:.7g} stands for missing values in {column}, and is used as a number",
            confidence="likely",
            step=seen.step,
            where=where,
            label="a mean or a spread over it" if seen.computed is not None else f"`{seen.name}` is made here",
            also=_also(seen, where, fed.called),
            culprit=Culprit(field=seen.name, phase="data", tensor=seen.name),
            evidence=(
                f"it fills {share:.1%} of the column; all others lie between {seen.low:.4g} and {seen.high:.4g}",
                f"in what the first layer (`{fed.op}`) is given, one number is as far off in the same way",
                "nothing in the script compares with this number or replaces it",
            ),
            remedies=tuple(_remedies(seen, is_scaled)),
        )


def _remedies(seen: HeldCode, is_scaled: bool) -> Iterator[Remedy]:
    if is_scaled:
        yield Remedy(
            title="find that number in the data before it is scaled (-200, -999), and leave it out of the means"
        )
    else:
        yield Remedy(title=f"leave {seen.value:.7g} out of means and spreads, and put 0 in its place after scaling")
    yield Remedy(title="tell the model which entries are missing by a column of 0 and 1, where that matters")


def _also(seen: HeldCode, where: Location, called: Location | None) -> tuple[Also, ...]:
    places = ((seen.made, f"`{seen.name}` is made here"), (called, "the model is given it"))
    return tuple(Also(location=at, why=why) for at, why in places if at is not None and at != where)
