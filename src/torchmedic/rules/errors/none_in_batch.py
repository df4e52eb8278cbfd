"""A dataset that returns None for some samples."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, RefetchedSample, Run, SampleField
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._batches import index_at, refetched, sample_expression
from torchmedic.rules.errors._reading import also, said, user_line
from torchmedic.rules.errors._syntax import Code

_LEAVE_OUT = Remedy(title="leave such samples out when the dataset is built, so that `__len__` counts only good ones")


class NoneInBatch(Rule):
    """A sample, or a field of one, is None."""

    code = "ERR032"
    name = "none-in-batch"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`default_collate: … found <class 'NoneType'>`, or a `collate_fn` that fails on a None"
    needs = (Crash, RefetchedSample)
    folds = ("none-result",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = refetched(run)
        crash = run.first(Crash)
        if seen is None or not (said(crash, "NoneType") or said(seen.crash, "NoneType")):
            return
        if seen.batch_is_none:
            yield self._whole_batch(run, seen)
            return
        field = next((f for f in seen.fields if f.problem == "none"), None)
        if field is None:
            return
        returned = field.none_from or (_returns_none(run, seen.getitem) if field.path == "sample" else None)
        empty = [index_at(seen, i) for i, form in enumerate(field.forms) if form == "None"]
        expression = sample_expression(field.path)
        where = returned or seen.getitem or seen.loader_built
        yield self.diagnose(
            headline=f"`{expression}` is None for sample {empty[0]} of `{seen.dataset}`",
            confidence="proven",
            where=where,
            label=_label(run, returned) if returned else "",
            also=also(
                (_other_function(seen.getitem, returned), "the sample is put together here"),
                (seen.loader_built, "the loader that makes the batch"),
                but=where,
            ),
            culprit=Culprit(phase="data", field=expression, sample=empty[0]),
            evidence=(_told(field, empty), "`default_collate` has no way to put None into a tensor"),
            remedies=_remedies(field, returned),
        )

    def _whole_batch(self, run: Run, seen: RefetchedSample) -> Diagnosis:
        """The loader handed out None in the place of a batch."""
        crash = run.first(Crash)
        maker = seen.collate_at or seen.getitem
        name = f"`{seen.collate}`" if seen.collate_at is not None else f"`{seen.dataset}`"
        returned = _returns_none(run, maker)
        field = next((f for f in seen.fields if f.problem == "none" and f.path == "sample"), None)
        empty = [index_at(seen, i) for i, form in enumerate(field.forms) if form == "None"] if field else []
        where = returned or maker or seen.loader_built
        sample_line = _returns_none(run, seen.getitem) if empty and seen.collate_at is not None else None
        return self.diagnose(
            headline=f"{name} returned None in the place of a batch",
            confidence="proven",
            where=where,
            label="the loop is handed this None" if returned is not None else "",
            also=also(
                (user_line(crash) if crash is not None else None, "and cannot use it here"),
                (sample_line, "the samples are None from here"),
                (seen.loader_built, "the loader that makes the batch"),
                but=where,
            ),
            culprit=Culprit(phase="data", op="collate", sample=empty[0] if empty else None),
            evidence=tuple(_of_batch(seen, field, empty)),
            remedies=(
                _LEAVE_OUT,
                Remedy(
                    title="or skip a batch that is None first thing in the loop",
                    diff="+ for batch in loader:\n+     if batch is None:\n+         continue",
                ),
            ),
        )


def _of_batch(seen: RefetchedSample, field: SampleField | None, empty: list[int]) -> Iterator[str]:
    if field is not None and empty:
        yield _told(field, empty)
    elif seen.indices:
        yield f"the batch was to be made of the samples {', '.join(map(str, seen.indices[:8]))}" + (
            ", …" if len(seen.indices) > 8 else ""
        )


def _other_function(getitem: Location | None, returned: Location | None) -> Location | None:
    return getitem if getitem and returned and getitem.function != returned.function else None


def _label(run: Run, returned: Location) -> str:
    if isinstance(Code.of(run).statement(returned), ast.Return):
        return "None goes into the batch from here"
    return f"`{returned.function}` ends here without a `return`"


def _told(field: SampleField, empty: list[int]) -> str:
    listed = ", ".join(map(str, empty[:8])) + (", …" if len(empty) > 8 else "")
    return f"{len(empty)} of the {len(field.forms)} samples of this batch hold None (index {listed})"


def _returns_none(run: Run, getitem: Location | None) -> Location | None:
    """A `return None` in the function that begins there."""
    if getitem is None:
        return None
    code = Code.of(run)
    scopes = code.scopes(getitem.file, getitem.line)
    for node in ast.walk(scopes[-1]) if scopes else ():
        bare = isinstance(node, ast.Return) and (
            node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
        )
        if bare:
            return code.place(getitem.file, node)
    return None


def _remedies(field: SampleField, returned: Location | None) -> tuple[Remedy, ...]:
    if field.path != "sample" and returned is not None:
        return (Remedy(title=f"return a value on every way through `{returned.function}`"),)
    if field.path != "sample":
        return (Remedy(title=f"return a value of the right shape for `{sample_expression(field.path)}`, never None"),)
    return (
        _LEAVE_OUT,
        Remedy(
            title="or drop them when the batch is made: pass `collate_fn=skip_none` to the DataLoader",
            diff="+ def skip_none(samples):\n+     return default_collate([s for s in samples if s is not None])",
        ),
    )
