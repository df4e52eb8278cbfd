"""One column in two units."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places

_KNOWN = {
    1000.0: "kilo", 100.0: "metres and centimetres, shares and per cent", 10.0: "a decimal point", 60.0: "minutes",
    3600.0: "hours and seconds", 2.2046: "kilograms and pounds", 2.54: "inches and centimetres",
    25.4: "inches and millimetres", 30.48: "feet and centimetres", 3.2808: "metres and feet", 3.6: "m/s and km/h",
    18.016: "glucose in mmol/L and mg/dL", 88.42: "creatinine in mg/dL and µmol/L",
    38.67: "cholesterol in mmol/L and mg/dL", 453.6: "pounds and grams",
}  # fmt: skip


_OFFSET = {(1.8, 32.0): "degrees Celsius and Fahrenheit", (1.0, 273.15): "degrees Celsius and kelvin"}


class MixedUnits(DataRule):
    """Two heaps with a gap or a dip between them, of the same shape, a well-known conversion apart."""

    code = "DAT124"
    name = "mixed-units"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "the values form two heaps of one shape, a factor between units apart"
    needs = (TableColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, TableColumn):
            for column in place.seen:
                heaps = column.two_scales
                if heaps is None:
                    continue
                known = _OFFSET.get((heaps.factor, heaps.offset)) or _KNOWN.get(heaps.factor)
                offset = f" and an offset of {heaps.offset:g}" if heaps.offset else ""
                apart = f"a factor of {heaps.factor:g}{offset} apart"
                between = "and few between, where the two overlap" if heaps.overlapping else "and nothing between"
                about = "about " if heaps.overlapping else ""
                fewer = min(heaps.low_count, heaps.high_count)
                yield self.report(
                    place,
                    (
                        f"`{column.column}` is in two units, {apart}",
                        f"a column is in two units, {apart}",
                    ),
                    confidence="likely",
                    evidence=[
                        f"{about}{many(heaps.low_count, 'value')} around {heaps.low:.4g}, "
                        f"{many(heaps.high_count, 'value')} around {heaps.high:.4g}, {between}",
                        *([f"the factor of {known}"] if known else []),
                    ],
                    help=(f"find what the {about}{fewer:,} rows have in common (site, device, year) and convert them",),
                    field=column.column,
                    rows=fewer,
                )
