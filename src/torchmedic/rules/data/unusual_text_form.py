"""A table of text that readers take for something else unless they are told its encoding or its decimal commas."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FileTrouble, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, listed, many, places


class UnusualTextForm(DataRule):
    """The check-up reads such files all the same; a script has to say how."""

    code = "DAT140"
    name = "unusual-text-form"
    severity = "hint"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a table is not written in UTF-8, or its numbers have decimal commas"
    needs = (FileTrouble,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, FileTrouble):
            encoding = next((seen.detail for seen in place.seen if seen.trouble == "encoding"), "")
            commas = next((seen.detail.split(", ") for seen in place.seen if seen.trouble == "decimal-commas"), [])
            mark = next((seen.detail for seen in place.seen if seen.trouble == "delimiter"), "")
            if not encoding and not commas:
                continue
            file = place.source.rpartition("/")[2]
            commas_in = f"has decimal commas in {many(len(commas), 'column')}"
            said = f"is written in {encoding}, not in UTF-8" if encoding else commas_in
            yield self.report(
                place,
                (f"`{file}` {said}", f"a file {said}"),
                evidence=_evidence(encoding, commas),
                help=(f"say so where it is read: `pd.read_csv(path, {_arguments(encoding, mark, bool(commas))})`",),
                field=place.source,
            )


def _evidence(encoding: str, commas: list[str]) -> Iterator[str]:
    if encoding:
        yield f"it was read as {encoding}, a guess from its bytes; `pd.read_csv` stops at the first that is no UTF-8"
    if commas:
        yield f"numbers such as 21,5 in {listed(commas)}; `pd.read_csv` makes text of them, without a word"


def _arguments(encoding: str, mark: str, commas: bool) -> str:
    """What `read_csv` has to be told."""
    told = [f"encoding='{encoding}'"] if encoding else []
    between = mark.replace("\t", "\\t")
    told += [f"sep='{between}'"] if mark else []
    return ", ".join([*told, *(["decimal=','", "thousands='.'"] if commas else [])])
