"""A table of text that readers take for something else unless they are told how it is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchmedic.facts import Dressed, FileTrouble, Run, TableColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, Place, listed, many, places

_AROUND = {
    "thousands": "marks between thousands",
    "percent": "per cent signs",
    "currency": "signs of a currency",
    "unit": "units behind them",
}


class UnusualTextForm(DataRule):
    """The check-up reads such files all the same; a script has to say how."""

    code = "DAT140"
    name = "unusual-text-form"
    severity = "hint"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a table is not written in UTF-8, or its numbers have decimal commas, marks or units"
    needs = ()

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, FileTrouble):
            seen = {one.trouble: one for one in place.seen}
            if "mixed-encoding" in seen:
                yield self._mixed(place, seen["mixed-encoding"])
            if "encoding" in seen or "decimal-commas" in seen:
                yield self._form(place, seen)
        for columns in places(run, TableColumn):
            dressed = [(c.column, c.dressed) for c in columns.seen if c.dressed is not None]
            if dressed:
                yield self._dressed(columns, dressed)

    def _form(self, place: Place[FileTrouble], seen: dict[str, FileTrouble]) -> Diagnosis:
        file = place.source.rpartition("/")[2]
        encoding = seen["encoding"].detail if "encoding" in seen else ""
        commas = seen["decimal-commas"].detail.split(", ") if "decimal-commas" in seen else []
        odd = [one for one in place.seen if one.trouble == "decimal-points"]
        said = f"has decimal commas in {many(len(commas), 'column')}"
        said = f"is written in {encoding}, not in UTF-8" if encoding else said
        thousands = bool(commas and seen["decimal-commas"].rows)
        told = _arguments(encoding, seen["delimiter"].detail if "delimiter" in seen else "", bool(commas), thousands)
        ways = [f"say so where it is read: `pd.read_csv(path, {told})`"]
        return self.report(
            place,
            (f"`{file}` {said}", f"a file {said}"),
            severity="warning" if odd else "hint",
            cells=[cell for one in odd for cell in one.cells],
            label="a point among decimal commas" if odd else "",
            evidence=[*_evidence(encoding, commas), *map(_with_points, odd)],
            help=[*(["mend the cells that have a point: each makes text of its whole column"] if odd else []), *ways],
            field=place.source,
        )

    def _mixed(self, place: Place[FileTrouble], seen: FileTrouble) -> Diagnosis:
        line = seen.line or 1
        file = place.source.rpartition("/")[2]
        said = f"is UTF-8 up to line {line - 1:,}, then {seen.detail}"
        return self.report(
            place,
            (f"`{file}` {said}", f"a file {said}"),
            severity="warning",
            evidence=[f"no single `encoding=` reads both parts; the check-up took the second for {seen.detail}"],
            help=("write the part behind in UTF-8 as well, before the two are put together",),
            field=place.source,
        )

    def _dressed(self, place: Place[TableColumn], dressed: Sequence[tuple[str, Dressed]]) -> Diagnosis:
        name, first = dressed[0]
        others = [f"`{other}` ({_AROUND[seen.form]}: {seen.example})" for other, seen in dressed[1:5]]
        return self.report(
            place,
            (f"the numbers of `{name}` have {_AROUND[first.form]}", f"numbers of a column have {_AROUND[first.form]}"),
            evidence=[
                f"all but a few of its cells are such as {first.example}, which readers take for text",
                *([f"likewise: {', '.join(others)}"] if others else []),
            ],
            help=_ways(name, first),
            field=name,
        )


def _with_points(seen: FileTrouble) -> str:
    verb = "has" if seen.rows == 1 else "have"
    return f"{many(seen.rows, 'cell')} of `{seen.detail}` {verb} a decimal point instead"


def _evidence(encoding: str, commas: list[str]) -> Iterator[str]:
    if encoding:
        yield f"it was read as {encoding}, a guess from its bytes; `pd.read_csv` stops at the first that is no UTF-8"
    if commas:
        yield f"numbers such as 21,5 in {listed(commas)}; `pd.read_csv` makes text of them, without a word"


def _arguments(encoding: str, mark: str, commas: bool, thousands: bool) -> str:
    """What `read_csv` has to be told."""
    told = [f"encoding='{encoding}'"] if encoding else []
    between = mark.replace("\t", "\\t")
    told += [f"sep='{between}'"] if mark else []
    told += ["decimal=','"] if commas else []
    return ", ".join([*told, *(["thousands='.'"] if thousands else [])])


def _ways(name: str, seen: Dressed) -> Iterator[str]:
    number = f"df['{name}'].str.replace(r'[^0-9.+-]', '', regex=True).astype(float)"
    yield f"make numbers of them: `{number}{' / 100' if seen.form == 'percent' else ''}`"
    if seen.form == "thousands" and "," in seen.example:
        yield "or have them read as such: `pd.read_csv(path, thousands=',')`"
