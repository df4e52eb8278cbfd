"""A recurrent layer whose input or carried state has another size."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, LoaderAtCrash, Location, ModuleFact, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._numbers import computed_at
from torchmedic.rules.errors._reading import (
    also,
    built_at,
    crash_in,
    layer_in,
    layer_input,
    layer_name,
    quoted,
    said,
    shape,
    short_type,
    tensors_on_line,
    user_line,
)

_INPUT = r"input\.size\(-1\) must be equal to input_size\. Expected (\d+), got (\d+)"
_STATE = r"Expected hidden(?:\[(\d)\])? size [\[\(]([\d, ]+)[\]\)], got [\[\(]([\d, ]+)[\]\)]"


class RecurrentSizeMismatch(Rule):
    """The feature size, or the batch size of the state handed in, does not fit."""

    code = "ERR028"
    name = "recurrent-size-mismatch"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a recurrent layer names `input_size` or the size of `hidden`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None:
            return
        layer = layer_in(crash)
        if (match := said(crash, _INPUT)) is not None:
            yield self._input(run, crash, line, layer, int(match[1]), int(match[2]))
        elif (match := said(crash, _STATE)) is not None:
            expected, got = (tuple(int(n) for n in match[i].split(",") if n.strip()) for i in (2, 3))
            yield self._state(run, crash, line, layer, expected, got)

    def _input(
        self, run: Run, crash: Crash, line: Location, layer: ModuleFact | None, wanted: int, got: int
    ) -> Diagnosis:
        given = layer_input(crash)
        name = layer_name(layer) if layer is not None else "the recurrent layer"
        built = built_at(run, layer) if layer is not None else None
        swapped = given is not None and wanted in given.shape[:-1]
        computed = computed_at(run, layer, "input_size") if not swapped else None
        where = computed or (line if swapped or built is None else built)
        return self.diagnose(
            headline=f"{quoted(name)} takes {wanted} features per step, but its input"
            + (f" {shape(given.shape)}" if given is not None else "")
            + f" has {got}",
            confidence="proven",
            where=where,
            label=f"{wanted} is worked out here" if computed is not None else "",
            also=also((built, f"`{name}` is built here"), (line, "and is called here"), but=where),
            culprit=Culprit(module=name, tensor="input", phase="forward"),
            evidence=(f"`{name}` is {short_type(layer.type)} with input_size={wanted}",) if layer is not None else (),
            remedies=(
                Remedy(title="bring the features to the last dimension: `x.transpose(1, 2)`")
                if swapped
                else Remedy(title=f"build `{name}` with `input_size={got}`"),
            ),
        )

    def _state(
        self,
        run: Run,
        crash: Crash,
        line: Location,
        layer: ModuleFact | None,
        expected: tuple[int, ...],
        got: tuple[int, ...],
    ) -> Diagnosis:
        name = layer_name(layer) if layer is not None else "the recurrent layer"
        batch = len(expected) == 3 and expected[1] != got[1 if len(got) == 3 else 0]
        loader = _loader_of(run, expected, got)
        where = _held_at(run, crash, got) or line
        return self.diagnose(
            headline=f"the state given to {quoted(name)} is {shape(got)}, but this batch needs {shape(expected)}",
            confidence="proven",
            where=where,
            also=also(
                (line, f"{quoted(name)} is given it here"),
                (loader.built if loader is not None else None, f"its last batch has {expected[1]} samples"),
                but=where,
            ),
            culprit=Culprit(module=name, tensor="hidden", phase="forward"),
            evidence=tuple(_why(batch, expected, got, loader)),
            remedies=(
                Remedy(
                    title="make the state for the batch at hand: size it by `x.size(0)`, or pass none to start at zero"
                ),
                *([Remedy(title="or drop the smaller last batch: `DataLoader(…, drop_last=True)`")] if loader else []),
            ),
        )


def _loader_of(run: Run, expected: tuple[int, ...], got: tuple[int, ...]) -> LoaderAtCrash | None:
    """The loader in whose full batches the state fits, and whose last one is as large as the batch at hand."""
    full, left = (sizes[1] if len(sizes) == 3 else 0 for sizes in (got, expected))
    fits = (x for x in run.all(LoaderAtCrash) if x.batch_size and x.batch_size == full and x.samples)
    return next((x for x in fits if (x.samples or 0) % full == left), None)


def _held_at(run: Run, crash: Crash, state: tuple[int, ...]) -> Location | None:
    """The outermost line that hands the state on: a `forward` that is given one can neither size it nor drop it."""
    found = None
    for frame in reversed([frame for frame in crash.frames if frame.is_user]):
        if not any(t.shape == state for _, t in tensors_on_line(run, frame)):
            break
        found = frame.location
    return found


def _why(batch: bool, expected: tuple[int, ...], got: tuple[int, ...], loader: LoaderAtCrash | None) -> Iterator[str]:
    if batch and len(got) == 3:
        yield f"the state was made for a batch of {got[1]}, this batch has {expected[1]}"
    if loader is not None and loader.samples and loader.batch_size:
        yield (
            f"`{loader.name}` has {loader.samples} samples in batches of {loader.batch_size}: "
            f"the last batch has {loader.samples % loader.batch_size}"
        )
