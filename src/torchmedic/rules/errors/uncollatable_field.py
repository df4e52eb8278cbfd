"""A field of a class that `default_collate` cannot make a batch of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, RefetchedSample, Run, SampleField
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._batches import collate_code, index_at, refetched, sample_expression
from torchmedic.rules.errors._reading import also, said, short_type

_WORDS = r"default_collate: batch must contain .*found <class '(?P<type>[^']+)'>"


class UncollatableField(Rule):
    """Samples hold an object that is neither tensor, array, number, text nor container."""

    code = "ERR031"
    name = "uncollatable-field"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`default_collate: batch must contain tensors …; found <class …>` where the class is not NoneType"
    needs = (Crash, RefetchedSample)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = refetched(run)
        found = said(run.first(Crash), _WORDS)
        if seen is None or found is None or found.group("type") == "NoneType":
            return
        field = next((f for f in seen.fields if f.problem == "class"), None)
        kind = field.forms[0] if field is not None else found.group("type")
        expression = sample_expression(field.path) if field is not None else "a field of the sample"
        yield self.diagnose(
            headline=f"`{expression}` is a `{short_type(kind)}`, which no batch can be made of",
            confidence="proven",
            where=seen.loader_built or seen.getitem,
            label="the default `collate_fn` is used here",
            also=also((seen.getitem, "the sample is put together here"), but=seen.loader_built),
            culprit=Culprit(phase="data", field=expression, sample=seen.indices[0] if seen.indices else None),
            evidence=tuple(_evidence(seen, field, expression, kind)),
            remedies=tuple(_remedies(field, expression, kind)),
        )


def _evidence(seen: RefetchedSample, field: SampleField | None, expression: str, kind: str) -> Iterator[str]:
    if field is not None:
        yield f"in sample {index_at(seen, 0)} of `{seen.dataset}`, `{expression}` is of class `{kind}`"
    yield "`default_collate` knows tensors, NumPy arrays, numbers, text, dicts and lists"


def _remedies(field: SampleField | None, expression: str, kind: str) -> Iterator[Remedy]:
    yield Remedy(title=_conversion(kind, expression))
    if field is not None:
        path = "" if field.path == "sample" else field.path
        yield Remedy(
            title="or keep the objects in a list: write this and pass `collate_fn=keep_objects` to the DataLoader",
            diff="+ from torch.utils.data import default_collate\n" + collate_code(path, "values", "keep_objects"),
        )


def _conversion(kind: str, expression: str) -> str:
    """What `__getitem__` should return in place of a well-known class."""
    if re.search(r"PIL\.|Image", kind):
        return f"turn `{expression}` into a tensor in `__getitem__`, for example with `transforms.ToTensor()`"
    if "Timestamp" in kind or "datetime" in kind:
        return f"return a number for `{expression}` in `__getitem__`: `.timestamp()` or `.toordinal()`"
    if kind.startswith("pandas"):
        return f"return `torch.tensor(….to_numpy())` for `{expression}` in `__getitem__`"
    if "ndarray" in kind:
        return f"give the array of `{expression}` a number type: `.astype(numpy.float32)`"
    if "Path" in kind:
        return f"return `str(…)` for `{expression}`"
    return f"return a tensor, a number or text for `{expression}` in `__getitem__`"
