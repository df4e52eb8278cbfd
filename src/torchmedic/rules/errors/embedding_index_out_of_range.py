"""A token id beyond the rows of an embedding table."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, IdsShifted, IndexOutside, Location, ModuleFact, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._following import configured_at
from torchmedic.rules.errors._numbers import computed_at
from torchmedic.rules.errors._reading import (
    also,
    built_at,
    crash_in,
    layer_in,
    layer_name,
    quoted,
    said,
    sample_of,
    setting,
    short_type,
    user_line,
)
from torchmedic.rules.errors._syntax import Code


class EmbeddingIndexOutOfRange(Rule):
    """`index out of range in self`: which index, which table, which token."""

    code = "ERR018"
    name = "embedding-index-out-of-range"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message is `index out of range in self`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        # What batching has shifted is told by DAT240.
        if crash is None or said(crash, r"index out of range in self") is None or run.first(IdsShifted) is not None:
            return
        line = user_line(crash)
        layer = layer_in(crash)
        fact = next((f for f in run.all(IndexOutside) if f.what == "embedding"), None)
        if fact is None:
            if line is not None:
                yield self._unknown(line, layer)
            return
        name = layer_name(layer) if layer is not None else "the embedding"
        built = built_at(run, layer) if layer is not None else None
        negative = fact.value < 0
        computed = computed_at(run, layer, "num_embeddings") if not negative else None
        told = _setting_of(Code.of(run), built, fact.bound) if built is not None and not negative else None
        where = computed or (line if negative or built is None else told[0] if told is not None else built)
        yield self.diagnose(
            headline=f"id {fact.value} is outside {quoted(name)}, a table of {fact.bound} rows (0 to {fact.bound - 1})",
            confidence="proven",
            where=where,
            label=""
            if negative
            else f"{fact.bound} is worked out here"
            if computed is not None
            else f"`{told[1]}={fact.bound}` is told here, ids up to {fact.maximum} arrive"
            if told is not None
            else f"{fact.bound} rows, ids up to {fact.maximum} arrive",
            step=fact.step,
            also=also((line, "looked up here"), (built, "the table is built here"), but=where),
            culprit=Culprit(
                module=name, tensor="input", index=fact.position, sample=fact.sample, op="embedding", phase="forward"
            ),
            evidence=(
                f"first at position {list(fact.position)} of the input; {fact.count} of {fact.total} ids lie outside",
                *sample_of(fact),
                f"ids run from {fact.minimum} to {fact.maximum}",
            ),
            remedies=tuple(_cures(fact, layer, is_computed=computed is not None))
            if told is None
            else (
                Remedy(title=f"build the model with `{told[1]}={fact.maximum + 1}` or more, and train it so"),
                Remedy(
                    title=f"or keep the ids below {fact.bound}; positions are ids too: cut the texts to {fact.bound}"
                ),
            ),
        )

    def _unknown(self, line: Location, layer: ModuleFact | None) -> Diagnosis:
        rows = setting(layer, "num_embeddings") if layer is not None else None
        name = layer_name(layer) if layer is not None else "the embedding"
        return self.diagnose(
            headline=f"an id is outside the table of {quoted(name)}" + (f", which has {rows} rows" if rows else ""),
            confidence="likely",
            where=line,
            culprit=Culprit(module=name, op="embedding", phase="forward"),
            evidence=("ids must lie from 0 to `num_embeddings - 1`",),
            remedies=(Remedy(title="build the table with one row more than the largest id"),),
        )


def _setting_of(code: Code, built: Location, rows: int) -> tuple[Location, str] | None:
    """The one argument of the configuration that a model is built from which says this number, and its line."""
    place = configured_at(code, built)
    statement = code.statement(place) if place is not None else None
    calls = [n for n in (ast.walk(statement) if statement is not None else ()) if isinstance(n, ast.Call)]
    told = [k for call in calls for k in call.keywords if isinstance(k.value, ast.Constant) and k.value.value == rows]
    if place is None or len(told) != 1 or told[0].arg is None:
        return None
    return code.place(place.file, told[0].value), told[0].arg


def _cures(fact: IndexOutside, layer: ModuleFact | None, *, is_computed: bool) -> Iterator[Remedy]:
    if fact.value < 0:
        yield Remedy(title="use a non-negative id for padding, and tell the layer: `padding_idx=0`")
        return
    more = ", counting padding and unknown words too" if fact.maximum == fact.bound else ""
    if is_computed:
        yield Remedy(title=f"count when all ids are known{more}: the table needs {fact.maximum + 1} rows")
        yield Remedy(title="or map ids that the vocabulary does not know to one id for unknown words")
        return
    kind = short_type(layer.type) if layer is not None else "Embedding"
    width = layer.settings.get("embedding_dim", "…") if layer is not None else "…"
    yield Remedy(title=f"build the table for the largest id{more}: `{kind}({fact.maximum + 1}, {width})`")
    yield Remedy(title="or map ids that the vocabulary does not know to one id for unknown words")
