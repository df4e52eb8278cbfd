"""Samples of unequal shape that the default `collate_fn` cannot stack."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, RefetchedSample, Run, SampleField, ShortSlice
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._batches import (
    collate_code,
    first_odd_index,
    odd_samples,
    refetched,
    sample_expression,
)
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_WORDS = ("stack expects each tensor to be equal size", "storage that is not resizable", "should be of equal size")
_OF_WORKER = r"storage that is not resizable"
_SHAPES = r"equal size, but got \[([\d, ]*)\] at entry \d+ and \[([\d, ]*)\] at entry (\d+)"


class UnequalSamples(Rule):
    """A batch could not be stacked because its samples differ in shape."""

    code = "ERR030"
    name = "unequal-samples"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`stack expects each tensor to be equal size`, or from a worker `storage that is not resizable`"
    needs = (Crash,)
    folds = ("unjoinable-shapes",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = refetched(run)
        crash = run.first(Crash)
        if seen is None:
            yield from self._from_message(crash_in(run))
            return
        if not (said(crash, *_WORDS) or said(seen.crash, *_WORDS)):
            return
        field = next((f for f in seen.fields if f.problem in ("shape", "length")), None)
        if field is None:
            return
        colours = _colours(field)
        opened = _opened(Code.of(run), seen) if colours is not None else None
        where = _cut_at(field.short) or opened or _where(seen)
        expression = sample_expression(field.path)
        yield self.diagnose(
            headline=f"`{expression}` has {len(set(field.forms))} different lengths in one batch"
            if field.problem == "length"
            else f"`{expression}` has {len(set(field.forms))} different shapes in one batch",
            confidence="proven",
            where=where,
            label="keeps the colour mode of the file"
            if where is opened is not None
            else _label(seen, field.short, expression),
            also=also(*_places(field.short), (seen.getitem, f"`{seen.dataset}` hands the samples out here"), but=where),
            culprit=Culprit(op="torch.stack", phase="data", field=expression, sample=first_odd_index(seen, field)),
            evidence=tuple(_evidence(seen, field, crash)),
            remedies=_one_colour(opened) if colours is not None else tuple(_remedies(seen, field)),
        )

    def _of_worker(self, crash: Crash) -> Diagnosis:
        return self.diagnose(
            headline="a worker could not put samples of different shapes into one batch",
            confidence="likely",
            where=user_line(crash),
            label="a batch of this loader could not be put together",
            culprit=Culprit(op="torch.stack", phase="data"),
            evidence=("a worker makes room for as many samples as there are, each as large as the first",),
            remedies=(
                Remedy(title="run once with `num_workers=0`: the message then names both shapes"),
                Remedy(title="bring all samples to one shape in `__getitem__` (resize, crop, convert the colour mode)"),
                Remedy(title="or pad to the longest of the batch in a `collate_fn`, with `pad_sequence`"),
            ),
        )

    def _from_message(self, crash: Crash | None) -> Iterator[Diagnosis]:
        """Where no sample could be fetched again: what the message and the frames tell."""
        shapes = said(crash, _SHAPES)
        if crash is not None and crash.source == "text" and shapes is None and said(crash, _OF_WORKER):
            yield self._of_worker(crash)
        if crash is None or shapes is None or not any("collate" in f.location.function for f in crash.frames):
            return
        yield self.diagnose(
            headline=f"samples of different shapes in one batch: [{shapes[1]}] and [{shapes[2]}]",
            confidence="proven",
            where=user_line(crash),
            label="a batch of this loader could not be put together",
            culprit=Culprit(op="torch.stack", phase="data"),
            evidence=(f"sample {shapes[3]} of the batch is the first whose shape is not that of sample 0",),
            remedies=(
                Remedy(title="bring all samples to one shape in `__getitem__` (resize, crop, convert the colour mode)"),
                Remedy(title="or pad to the longest of the batch in a `collate_fn`, with `pad_sequence`"),
            ),
        )


def _colours(field: SampleField) -> tuple[int, ...] | None:
    """The numbers of channels in which the pictures of a batch differ, where they differ in nothing else."""
    found = [re.search(r"\[([\d, ]+)\]", form) for form in field.forms]
    shapes = {tuple(int(n) for n in match[1].split(",")) for match in found if match is not None}
    if field.problem != "shape" or len(shapes) < 2 or {len(sizes) for sizes in shapes} != {3}:
        return None
    unlike = [axis for axis in (0, 1, 2) if len({sizes[axis] for sizes in shapes}) > 1]
    channels = sorted({sizes[unlike[0]] for sizes in shapes})
    return tuple(channels) if len(unlike) == 1 and unlike[0] != 1 and set(channels) <= {1, 2, 3, 4} else None


def _opened(code: Code, seen: RefetchedSample) -> Location | None:
    """The one line that opens a picture of a sample without saying in which colours it is wanted.

    What other classes and functions open and convert, as those that write the files, tells nothing about it.
    """
    opened = [
        place
        for place, call in code.calls("open")
        if dotted(call.func).endswith("Image.open") and ".convert(" not in ast.unparse(code.statement(place) or call)
    ]
    own = _block(code, seen.getitem) if seen.getitem is not None else None
    of_class = [place for place in opened if own is not None and _block(code, place) == own]
    found = of_class or opened
    converting = {_block(code, place) for place, _ in code.calls("convert")}
    is_told = len(found) == 1 and not {_block(code, found[0]), own} & converting
    return found[0] if is_told else None


def _block(code: Code, place: Location) -> tuple[str, str]:
    """The outermost class or function around a line."""
    return place.file, code.qualname(place.file, place.line).partition(".")[0]


def _one_colour(opened: Location | None) -> tuple[Remedy, ...]:
    call = re.search(r"(?:\w+\.)*Image\.open\([^()]*\)", opened.source) if opened is not None else None
    return (
        Remedy(
            title="bring every picture to one colour mode when it is opened"
            + (f": `{call[0]}.convert('RGB')`" if call is not None else ": `.convert('RGB')`"),
            detail="'L' makes one channel of all of them",
        ),
    )


def _cut_at(short: ShortSlice | None) -> Location | None:
    """The line that counts more items than can be cut, else the one that cuts."""
    return (short.length_at or short.where) if short is not None else None


def _label(seen: RefetchedSample, short: ShortSlice | None, expression: str) -> str:
    if short is not None and short.length_at is not None:
        return f"{short.length} items, but only {short.right_length} are whole"
    if short is not None:
        return f"asks for values up to {short.asked}, there are {short.there}"
    return f"`{seen.collate}` stacks {expression}" if seen.has_own_collate else "no `collate_fn` is given here"


def _places(short: ShortSlice | None) -> tuple[tuple[Location | None, str], ...]:
    return (
        ((short.where, f"asks for values up to {short.asked}, there are {short.there}"),) if short is not None else ()
    )


def _where(seen: RefetchedSample) -> Location | None:
    """The loader that lacks a `collate_fn`; the line of the user's own one."""
    own = user_line(seen.crash) if seen.has_own_collate and seen.crash is not None else None
    return own or seen.loader_built or seen.getitem


def _evidence(seen: RefetchedSample, field: SampleField, crash: Crash | None) -> Iterator[str]:
    yield f"{sample_expression(field.path)}: {odd_samples(seen, field)}"
    short = field.short
    if short is not None:
        yield f"`{short.expression}` goes up to {short.asked}, and what it cuts has {short.there}: it comes out shorter"
    if short is not None and short.right_length is not None:
        yield f"item {short.right_length - 1} is whole, item {short.right_length} lacks one value: tried on both"
    if not seen.has_own_collate:
        yield "the DataLoader's default `collate_fn` joins samples with `torch.stack`, which needs equal shapes"
    if said(crash, "not resizable"):
        yield "`storage that is not resizable` is how the same failure reads in a worker process"


def _remedies(seen: RefetchedSample, field: SampleField) -> Iterator[Remedy]:
    short = field.short
    if short is not None and short.right_length is not None:
        yield Remedy(
            title=f"let `__len__` return {short.right_length} here instead of {short.length}: "
            f"{(short.length or 0) - short.right_length} fewer, so that the last window ends with the data"
        )
        return
    if short is not None:
        yield Remedy(title=f"pad what comes out short of `{short.expression}`, with `torch.nn.functional.pad`")
    if seen.has_own_collate:
        yield Remedy(title="pad before stacking: `pad_sequence(tensors, batch_first=True)` instead of `torch.stack`")
        return
    if _is_image(field):
        yield Remedy(
            title=f"bring every `{sample_expression(field.path)}` to one size in `__getitem__` (resize or crop)"
        )
        return
    path = field.path.removeprefix("len(sample").removesuffix(")") if field.path.startswith("len(") else field.path
    as_tensors = "[torch.as_tensor(v) for v in values]" if field.problem == "length" else "values"
    code = collate_code("" if path == "sample" else path, f"pad_sequence({as_tensors}, batch_first=True)", "pad_batch")
    yield Remedy(
        title="pad to the longest of the batch: write this and pass `collate_fn=pad_batch` to the DataLoader",
        diff="+ from torch.nn.utils.rnn import pad_sequence\n+ from torch.utils.data import default_collate\n" + code,
    )


def _is_image(field: SampleField) -> bool:
    return field.problem == "shape" and all(form.count(",") >= 2 for form in field.forms if "[" in form)
