"""A file that cannot be read to its end, or not as what its name says."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Cell, FileTrouble, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, Place, places

_SAID = {
    "truncated": "is cut off or damaged",
    "unreadable": "cannot be read",
    "ragged-lines": "has lines with another number of cells than its header",
    "open-quote": "has a quote that opens and does not close",
    "broken-line": "has a line that is no JSON",
    "other-columns": "has other columns than the first file of its set",
    "one-column": "has one column only; its delimiter was not recognised",
    "too-large": "would fill the memory when unpacked",
    "workbook": "is a workbook, which is not read",
    "failing-samples": "has samples that cannot be fetched",
}
_HELP = {
    "truncated": "fetch the file again and compare its checksum; the rows before the break may be fine",
    "ragged-lines": 'mend those lines, or quote the cells that contain the delimiter: `"a, b"`',
    "open-quote": 'close it, or write it twice where it belongs to the text: `"12"" pipe"`',
    "other-columns": "bring the headers into line; if it is another table, give it another name or check it by itself",
    "broken-line": "mend that line, or leave it out: one JSON object a line",
    "one-column": "write it with commas or tabs, or name the delimiter where you read it: `pd.read_csv(path, sep=…)`",
    "workbook": "save the sheet as a table: `pd.read_excel(path, sheet_name=…).to_parquet('table.parquet')`",
    "failing-samples": "fetch that sample by hand, `dataset[i]`, and mend or leave out what it reads",
    "too-large": "unpack it elsewhere in pieces, if you trust where it came from",
}


class UnreadableFile(DataRule):
    """The other files are checked all the same."""

    code = "DAT137"
    name = "unreadable-file"
    severity = "error"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a file is cut off, damaged, or of another format than its name says"
    needs = (FileTrouble,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, FileTrouble):
            bad = [seen for seen in place.seen if seen.trouble in _SAID]
            if bad:
                yield self._report(place, bad[0], bad[1:])

    def _report(self, place: Place[FileTrouble], seen: FileTrouble, others: list[FileTrouble]) -> Diagnosis:
        said = _SAID[seen.trouble]
        return self.report(
            place,
            (f"`{seen.source}` {said}", f"`{seen.source.rpartition('/')[2]}` {said}", f"a file {said}"),
            cells=[Cell(file=seen.source, line=seen.line)] if seen.line else [],
            evidence=[
                "what the reader says: " + seen.detail.replace("`", "'").rstrip(".! "),
                *(f"`{other.source}` {_SAID[other.trouble]}" for other in others[:6]),
            ],
            help=(_HELP.get(seen.trouble, "look at the first bytes of the file: `head -c 200 FILE | xxd`"),),
            field=seen.source,
        )
