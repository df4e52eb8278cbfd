"""A sample that raises when it is fetched, in a worker or in the main process."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, RefetchedSample, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._batches import refetched
from torchmedic.rules.errors._reading import also, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_MOST_VALUES = 5
_PLAIN = ("int", "str", "float", "pathlib.PosixPath")


class FailingSample(Rule):
    """The dataset (or the collate function) raised; the index and the true error are known from a second fetch."""

    code = "ERR033"
    name = "failing-sample"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`Caught … in DataLoader worker process`, or a traceback through `fetch`"
    needs = (Crash, RefetchedSample)
    fallback = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = refetched(run)
        outer = run.first(Crash)
        if seen is None or seen.crash is None or outer is None:
            return
        crash = seen.crash
        read = user_line(crash)
        counted = _miscounted(Code.of(run), seen, crash)
        where = counted[0] if counted is not None else read or seen.getitem or seen.loader_built
        yield self.diagnose(
            headline=_headline(seen, crash),
            confidence="proven" if seen.failed else "likely",
            where=where,
            label=_first_line(crash) if counted is None else f"counts without `{counted[1]}`, which is read",
            also=also(
                (read if counted else None, "read beyond its end here"),
                (seen.loader_built, "the loader that fetched it"),
                but=where,
            ),
            culprit=Culprit(phase="data", sample=seen.index),
            evidence=tuple(_evidence(seen, crash)),
            remedies=tuple(_remedies(seen))
            if counted is None
            else (Remedy(title=f"let `__len__` count what `__getitem__` reads: `len({counted[1]})`"),),
        )


def _miscounted(code: Code, seen: RefetchedSample, crash: Crash) -> tuple[Location, str] | None:
    """The end of a `__len__` that does not ask the list whose end the sample lies beyond, and that list."""
    line = user_line(crash)
    length = code.function("__len__", seen.dataset.rpartition(".")[2])
    if crash.type_name != "IndexError" or line is None or length is None or seen.stage != "dataset":
        return None
    read = [
        dotted(n.value)
        for statement in code.statements(line)
        for n in ast.walk(statement)
        if isinstance(n, ast.Subscript) and dotted(n.value).startswith("self.")
    ]
    returned = [n for n in ast.walk(length[1]) if isinstance(n, ast.Return) and n.value is not None]
    asked = {dotted(n) for r in returned for n in ast.walk(r) if isinstance(n, ast.Attribute)}
    if len(set(read)) != 1 or len(returned) != 1 or not asked or asked & set(read):
        return None
    return code.place(length[0], returned[0]), read[0]


def _headline(seen: RefetchedSample, crash: Crash) -> str:
    if seen.stage == "collate" and seen.failed:
        return f"`{seen.collate}` raises `{crash.type_name}` on a batch of {len(seen.indices)} samples"
    if seen.index is not None:
        return f"sample {seen.index} of `{seen.dataset}` raises `{crash.type_name}`"
    return f"a worker of the DataLoader over `{seen.dataset}` raised `{crash.type_name}`"


def _first_line(crash: Crash) -> str:
    return crash.message.partition("\n")[0][:90]


def _evidence(seen: RefetchedSample, crash: Crash) -> Iterator[str]:
    values = _simple_values(crash)
    if values:
        yield "there, " + ", ".join(values)
    if seen.failed and seen.num_workers:
        yield f"the batch was fetched a second time outside the workers and failed the same way: `{_first_line(crash)}`"
    elif seen.failed:
        yield f"the batch was fetched a second time and failed the same way: `{_first_line(crash)}`"
    elif seen.stage == "iterable":
        yield "the dataset is iterable, so this sample could not be fetched a second time"
    else:
        yield (
            f"the {len(seen.indices)} samples of the batch, fetched again outside the worker, came without error: "
            "the cause lies in chance or in the worker itself"
        )


def _simple_values(crash: Crash) -> list[str]:
    """Numbers and texts of the dataset's frames: the file name is among them, as a rule."""
    frames = [f for f in reversed(crash.frames) if f.is_user]
    plain = {v.name: v.text for f in reversed(frames) for v in f.values if v.type in _PLAIN and v.text}
    return [f"`{name}` is {text[:80]}" for name, text in list(plain.items())[-_MOST_VALUES:]]


def _remedies(seen: RefetchedSample) -> Iterator[Remedy]:
    if seen.failed and seen.index is not None:
        yield Remedy(title=f"call `dataset[{seen.index}]` by itself to see the error without the loader, and repair it")
    elif seen.failed:
        yield Remedy(title="repair the `collate_fn`; `num_workers=0` shows the error without a worker in between")
    else:
        yield Remedy(title="run with `num_workers=0`: if the error is gone, look at what workers share or seed alone")
