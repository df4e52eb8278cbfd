"""Batch normalisation of a batch with a single sample."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, LoaderAtCrash, Location, ModuleFact, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, layer_in, layer_name, said, shape, short_type, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_PATTERNS = (
    r"Expected more than 1 value per channel when training, got input size (?:torch\.Size\()?\[([\d, ]+)\]",
    r"Expected more than 1 spatial element when training, got input size (?:torch\.Size\()?\[([\d, ]+)\]",
)


class BatchnormBatchOfOne(Rule):
    """The last batch of an epoch has one sample left."""

    code = "ERR022"
    name = "batchnorm-batch-of-one"
    symptoms = (Symptom.CRASH,)
    tell_apart = "a norm layer says that it expected more than 1 value per channel"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, *_PATTERNS)
        line = user_line(crash) if crash is not None else None
        if crash is None or match is None or line is None:
            return
        sizes = tuple(int(n) for n in match[1].split(",") if n.strip())
        layer = layer_in(crash)
        loader = _leaving_one(run)
        if loader is not None and sizes[:1] == (1,):
            yield self._last_batch(run, crash, line, layer, loader, sizes)
        else:
            yield self._single(line, layer, sizes)

    def _last_batch(
        self,
        run: Run,
        crash: Crash,
        line: Location,
        layer: ModuleFact | None,
        loader: LoaderAtCrash,
        sizes: tuple[int, ...],
    ) -> Diagnosis:
        built = loader.built or _loader_line(run, crash, loader)
        where = built or line
        name = _norm(layer)
        return self.diagnose(
            headline=f"the last batch of `{loader.name}` has 1 sample; {name} needs more",
            confidence="proven",
            where=where,
            label=f"{loader.samples} samples in batches of {loader.batch_size} leave 1",
            also=also((line, "the batch of one arrives here"), but=where),
            culprit=Culprit(module=layer_name(layer) if layer else None, phase="data", op="batch_norm"),
            evidence=(
                f"{loader.samples} % {loader.batch_size} = 1 with `batch_size={loader.batch_size}` "
                f"and `drop_last=False`; {name} got {shape(sizes)}",
                "variance over a single value is undefined, so batch norm refuses it while training",
            ),
            remedies=(
                Remedy(title="drop the incomplete batch while training: `DataLoader(…, drop_last=True)`"),
                Remedy(title="or choose a batch size that does not leave a single sample"),
            ),
        )

    def _single(self, line: Location, layer: ModuleFact | None, sizes: tuple[int, ...]) -> Diagnosis:
        return self.diagnose(
            headline=f"{_norm(layer)} got a single value per channel ({shape(sizes)}) in training mode",
            confidence="proven",
            where=line,
            culprit=Culprit(module=layer_name(layer) if layer else None, phase="forward", op="batch_norm"),
            evidence=("variance over a single value is undefined, so the layer refuses it while training",),
            remedies=(
                Remedy(title="for a prediction, call `model.eval()` first: then the running averages are used"),
                Remedy(title="for training, use batches of two or more, or `GroupNorm`/`LayerNorm`"),
            ),
        )


def _norm(layer: ModuleFact | None) -> str:
    if layer is None:
        return "batch norm"
    name, kind = layer_name(layer), short_type(layer.type)
    return f"`{name}`" if kind in name else f"`{name}` ({kind})"


def _leaving_one(run: Run) -> LoaderAtCrash | None:
    fits = (x for x in run.all(LoaderAtCrash) if x.samples and x.batch_size and x.batch_size > 1 and not x.drop_last)
    return next((x for x in fits if (x.samples or 0) % (x.batch_size or 1) == 1), None)


def _loader_line(run: Run, crash: Crash, loader: LoaderAtCrash) -> Location | None:
    """Where the loader was built: by its name, then by its batch size."""
    code = Code.of(run)
    names = {f.location.file: f.location for f in crash.frames if f.is_user}
    for place in names.values():
        for bound in code.assignments(loader.name, Location(file=place.file, line=0)):
            if isinstance(bound.value, ast.Call) and dotted(bound.value.func).endswith("DataLoader"):
                return bound.location
    size = str(loader.batch_size)
    calls = list(code.calls("DataLoader"))
    fits = [p for p, c in calls if any(k.arg == "batch_size" and ast.unparse(k.value) == size for k in c.keywords)]
    return fits[0] if len(fits) == 1 else calls[0][0] if len(calls) == 1 else None
