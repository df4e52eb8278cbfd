"""A class label that the model has no output for."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, IdsShifted, IndexOutside, LayerBuilt, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._following import configured_at
from torchmedic.rules.errors._origins import coded_at, counting_from_one, made_inside
from torchmedic.rules.errors._reading import (
    also,
    crash_in,
    said,
    sample_of,
    short_type,
    tensors,
    tensors_on_line,
    user_line,
)
from torchmedic.rules.errors._syntax import Code

_PATTERNS = (
    r"Target (-?\d+) is out of bounds",
    r"target .*out of bounds",
    r"Class values must be (?:smaller than num_classes|non-negative)",
)


class LabelOutOfRange(Rule):
    """A label is negative, or not smaller than the number of classes."""

    code = "ERR019"
    name = "label-out-of-range"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message is `Target … is out of bounds`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, *_PATTERNS)
        line = user_line(crash) if crash is not None else None
        # What batching has shifted is told by DAT240.
        if crash is None or match is None or line is None or run.first(IdsShifted) is not None:
            return
        fact = next((f for f in run.all(IndexOutside) if f.what == "label"), None)
        if fact is None:
            label = match[1] if match.groups() else "a label"
            yield self.diagnose(
                headline=f"label {label} is outside the classes that the model has",
                confidence="likely",
                where=line,
                culprit=Culprit(op="cross_entropy", phase="forward"),
                evidence=("labels must lie from 0 to the number of classes - 1",),
                remedies=tuple(_told(label)),
            )
            return
        yield self._known(run, crash, line, fact)

    def _known(self, run: Run, crash: Crash, line: Location, fact: IndexOutside) -> Diagnosis:
        name = _target_name(run, crash)
        layer = _output_layer(run, fact.bound)
        shifted = fact.minimum >= 1 and fact.maximum == fact.bound
        coded = coded_at(Code.of(run)) if fact.value == fact.minimum == -1 else None
        making = _made_at(run, crash, fact, name) if coded is None and (shifted or fact.value < 0) else None
        made, labels = making if making is not None else (None, name)
        grows = layer is not None and fact.value > 0 and not shifted and not _is_mark(fact)
        built = layer.location if layer is not None and grows else None
        read = coded[0] if coded is not None else None
        if read is None and made is None:
            read = _read_from_text(Code.of(run), built, shifted)
        where = made or read or built or line
        path = _shown(layer) if layer is not None else ""
        return self.diagnose(
            headline=f"label {fact.value} in `{name}` has no output: the model has {fact.bound} classes "
            f"(0 to {fact.bound - 1})",
            confidence="proven" if read is None else "likely",
            where=where,
            label=_label(fact, coded is not None) if where != line else "",
            step=fact.step,
            also=also(
                (line, "the loss is computed here"),
                (layer.location if layer else None, f"`{path}` gives {fact.bound} outputs"),
                but=where,
            ),
            culprit=Culprit(
                tensor=name,
                index=fact.position,
                sample=fact.sample,
                module=path or None,
                op="cross_entropy",
                phase="forward",
            ),
            evidence=(
                f"first in row {fact.position[0] if fact.position else 0} of the batch; "
                f"{fact.count} of {fact.total} labels lie outside",
                *sample_of(fact),
                f"labels of this batch run from {fact.minimum} to {fact.maximum}",
                *((f"the last layer `{path}` has {fact.bound} outputs",) if path else ()),
            ),
            remedies=(*_cleaning(coded), *_cures(fact, labels, path, shifted)),
        )


def _told(label: str) -> Iterator[Remedy]:
    """What the number alone tells."""
    if label == "-1":
        yield Remedy(
            title="find what gives -1: `pd.Categorical` and `factorize` do, for a value that is no category",
            detail="a blank, a capital letter or a missing value is enough to be no category",
        )
    if label.startswith("-"):
        yield Remedy(title=f"if {label} marks rows to leave out, tell the loss: `ignore_index={label}`")
    elif label.isdigit():
        yield Remedy(title=f"give the last layer {int(label) + 1} outputs or more, or count labels from 0")
    else:
        yield Remedy(title="give the last layer one output per class, and count labels from 0")


def _label(fact: IndexOutside, is_coded: bool) -> str:
    if is_coded:
        return "gives -1 to a value that is missing or none of the categories"
    return f"labels run from {fact.minimum} to {fact.maximum}"


def _cleaning(coded: tuple[Location, str] | None) -> Iterator[Remedy]:
    if coded is not None:
        values = coded[1] if len(coded[1]) <= 40 else "the column"
        yield Remedy(
            title=f"look which values of `{values}` got -1, and clean them before: `.str.strip().str.lower()`",
            detail="a blank, a capital letter or a missing value is enough to be no category",
        )


def _read_from_text(code: Code, built: Location | None, shifted: bool) -> Location | None:
    """A likelier line to edit, as the script's text tells: a table numbered from 1, or the model's configuration."""
    return counting_from_one(code) if shifted else configured_at(code, built) if built is not None else None


def _shown(layer: LayerBuilt) -> str:
    kind = short_type(layer.type)
    path = layer.path if layer.path != "module" else ""  # what `DistributedDataParallel` calls the model it wraps
    return f"{path}: {kind}" if path.isdigit() else path or kind


def _target_name(run: Run, crash: Crash) -> str:
    whole = [n for n, t in tensors_on_line(run, crash.user_frame) if t.dtype.startswith(("int", "uint"))]
    return whole[-1] if whole else "target"


def _output_layer(run: Run, classes: int) -> LayerBuilt | None:
    outputs = [
        b
        for b in run.all(LayerBuilt)
        if str(classes) in (b.settings.get("out_features"), b.settings.get("out_channels"))
    ]
    return outputs[-1] if outputs else None


def _made_at(run: Run, crash: Crash, fact: IndexOutside, name: str) -> tuple[Location, str] | None:
    """The line that made all labels, and their name there: a whole-number array of an outer frame with that range."""
    code = Code.of(run)
    for frame in (f for f in crash.frames if f.is_user):
        for held, t in tensors(frame):
            if held == name or not t.dtype.startswith(("int", "uint")):
                continue
            found = code.last_assignment(held, frame.location)
            if (t.minimum, t.maximum) == (fact.minimum, fact.maximum) and found is not None and found.how == "assign":
                place, there = made_inside(code, found, held)
                return place, there or name
    return (fact.made, name) if fact.made is not None else None


def _is_mark(fact: IndexOutside) -> bool:
    """Whether one far number stands for "no label", as 255 does in many masks."""
    return fact.value == fact.maximum and fact.maximum >= max(2 * fact.bound, fact.bound + 2)


def _cures(fact: IndexOutside, name: str, path: str, shifted: bool) -> Iterator[Remedy]:
    if fact.value < 0 or _is_mark(fact):
        yield Remedy(title=f"if {fact.value} marks rows to leave out, tell the loss: `ignore_index={fact.value}`")
        return
    if shifted:
        yield Remedy(
            title=f"count labels from 0: `{name} - 1`", detail=f"they run from {fact.minimum} to {fact.maximum}"
        )
        return
    yield Remedy(title=f"give `{path or 'the last layer'}` {fact.maximum + 1} outputs, one per class")
