"""A dataset of length 0 given to a DataLoader."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run, Value
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, short_type, user_line
from torchmedic.rules.errors._syntax import Code


class EmptyDataset(Rule):
    """A sampler was asked to draw from nothing."""

    code = "ERR037"
    name = "empty-dataset"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`num_samples should be a positive integer value, but got num_samples=0`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or not said(crash, r"num_samples=0\b"):
            return
        dataset, empty = _dataset(crash)
        built = user_line(crash)
        filled = _filled(run, dataset, empty)
        where = filled or built
        name = short_type(dataset.type) if dataset is not None else "the dataset"
        yield self.diagnose(
            headline=f"`{name}` has 0 samples" + (f": its `{empty.name}` is empty" if empty is not None else ""),
            confidence="proven",
            where=where,
            label="found nothing" if filled else "given to a loader here",
            also=also((built, "the loader is built here"), but=where),
            culprit=Culprit(phase="data", field=f"self.{empty.name}" if empty is not None else None),
            evidence=tuple(_evidence(dataset)),
            remedies=(
                Remedy(title=_cure(filled)),
                Remedy(title="stop early with a clear message: `assert len(dataset) > 0, folder`"),
            ),
        )


def _dataset(crash: Crash) -> tuple[Value | None, Value | None]:
    """The dataset in the frames of the loader, and the empty container it holds."""
    for frame in reversed(crash.frames):
        for value in frame.values:
            if value.name in ("dataset", "data_source"):
                held = [i for i in value.items if i.length == 0 or (i.tensor is not None and 0 in i.tensor.shape)]
                return value, held[0] if held else None
    return None, None


def _filled(run: Run, dataset: Value | None, empty: Value | None) -> Location | None:
    """The line of the dataset's class that fills the container that is empty."""
    if dataset is None or empty is None:
        return None
    cls = short_type(dataset.type)
    own = [a for a in Code.of(run).attribute_assignments(empty.name, cls) if cls in a.location.function]
    return own[-1].location if own else None


def _evidence(dataset: Value | None) -> Iterator[str]:
    texts = [v for v in (dataset.items if dataset is not None else ()) if v.text and v.type != "NoneType"]
    if texts:
        yield "the dataset holds " + ", ".join(f"`{v.name}` = {v.text[:60]}" for v in texts[:4])
    yield "a shuffling loader cannot draw from a dataset whose `len` is 0"


def _cure(filled: Location | None) -> str:
    if filled is not None and any(word in filled.source for word in ("glob", "listdir", "scandir", "walk")):
        return "check the folder and the pattern on this line: from the working directory they match no file"
    return "find out why nothing was collected: the path, the split or a filter before this line"
