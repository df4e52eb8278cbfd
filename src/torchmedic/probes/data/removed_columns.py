"""Columns that a Trainer of Transformers removes, and the script's own code asks a batch for."""

from __future__ import annotations

import ast
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from torchmedic.facts import Location, WantedColumnRemoved
from torchmedic.launch.imports import AfterImport, stop_waiting, wait_for_import
from torchmedic.probes.events.listening import tell_after
from torchmedic.probes.events.loaders import Loaders, base_of
from torchmedic.probes.events.patching import Patches
from torchmedic.probes.source.expressions import walked
from torchmedic.probes.source.frames import file_of, location
from torchmedic.probes.source.sources import called_at, user_files
from torchmedic.record import Probe, Recorder, shielded

_TRAINER = "transformers.trainer"
_WRAPPER = "RemoveColumnsCollator"
_ASKING = ("get", "pop")
# What a tokenizer hands out whether or not the model wants it, and what code for many models asks for at a venture.
_AT_A_VENTURE = frozenset(
    (
        *("input_ids", "attention_mask", "token_type_ids", "position_ids", "special_tokens_mask", "offset_mapping"),
        *("length", "overflow_to_sample_mapping", "decoder_input_ids", "labels", "label", "label_ids"),
    )
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class RemovedColumns(Probe):
    """At the first batch behind a Trainer's own filter of columns, looks for those that the script asks for."""

    name = "removed-columns"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._looked = False
        self._waiting: AfterImport | None = wait_for_import(_TRAINER, shielded(self)(self._watch))

    def remove(self) -> None:
        stop_waiting(self._waiting)
        self._patches.restore()

    def _watch(self) -> None:
        """Tables of `datasets` lose their columns before there is a loader."""
        trainer = getattr(sys.modules[_TRAINER], "Trainer", None)
        if hasattr(trainer, "_remove_unused_columns"):
            tell_after(self, self._patches, trainer, "_remove_unused_columns", self._note_table)

    def _note_table(self, left: Any, arguments: tuple[Any, ...]) -> None:
        before, after = (getattr(table, "column_names", None) for table in (arguments[1], left))
        if not self._looked and isinstance(before, list) and isinstance(after, list):
            self._tell({name for name in before if name not in after}, arguments[0].data_collator)

    def on_batch(self, batch: Any, iterator: Any) -> None:
        collate: Any = getattr(iterator, "_collate_fn", None)
        if type(collate).__name__ != _WRAPPER or self._looked or self.recorder.clock_is_held:
            return
        self._looked = True
        indices = self._loaders.batch_facts(iterator)[0]
        wanted = dict(_wanted(collate.data_collator)).keys() - set(collate.signature_columns)
        is_able = hasattr(os, "fork") and threading.current_thread() is threading.main_thread()
        if not wanted or not is_able or not isinstance(indices, (list, tuple)) or not indices:
            return
        self._tell(wanted & _columns_of(base_of(iterator._dataset), indices[0]), collate.data_collator)

    def _tell(self, removed: set[str], collator: Any) -> None:
        found = [(column, where) for column, where in _wanted(collator) if column in removed]
        if found:
            self._looked = True
            column, where = found[0]
            self.recorder.observe(
                WantedColumnRemoved(
                    step=self.recorder.step, column=column, asked=where, told=called_at("TrainingArguments")
                )
            )


def _columns_of(dataset: Any, index: Any) -> set[str]:
    """The fields of a sample, read in a fork: the draws and the reads of the script's own are left alone."""
    from torchmedic.probes.crash.refetch import told_by_fork

    found = told_by_fork(lambda tell: tell(columns=[str(name) for name in dataset[index]]))
    return set(found.get("columns") or ())


def _wanted(collator: Any) -> Iterator[tuple[str, Location]]:
    """Names that the script's trainers and its collator ask a batch for, where it may lack them, with the lines."""
    named, own = getattr(collator, "__name__", type(collator).__name__), file_of(collator)
    for file in user_files():
        for node in walked(file):
            if isinstance(node, ast.ClassDef) and any(_last(base).endswith("Trainer") for base in node.bases):
                for method in (n for n in node.body if isinstance(n, _FUNCTIONS)):
                    yield from _asked(file, method, {argument.arg for argument in method.args.args})
            elif own == file and isinstance(node, (ast.ClassDef, *_FUNCTIONS)) and node.name == named:
                yield from _asked(file, node, None)


def _asked(file: str, scope: ast.AST, among: set[str] | None) -> Iterator[tuple[str, Location]]:
    """`batch.get("name")` and `batch.pop("name", None)` whose answer is used; to drop a field is no wish for it."""
    unused = {id(n.value) for n in ast.walk(scope) if isinstance(n, ast.Expr)}
    assigned = (n for n in ast.walk(scope) if isinstance(n, ast.Assign))
    unused |= {id(n.value) for n in assigned if _last(n.targets[0]).startswith("_")}
    for node in ast.walk(scope):
        if not isinstance(node, ast.Call) or id(node) in unused or not node.args:
            continue
        key, function = node.args[0], node.func
        if not isinstance(function, ast.Attribute) or function.attr not in _ASKING:
            continue
        if not isinstance(function.value, ast.Name) or not isinstance(key, ast.Constant):
            continue
        is_batch = among is None or function.value.id in among
        if is_batch and isinstance(key.value, str) and key.value not in _AT_A_VENTURE:
            yield key.value, location(file, node.lineno, getattr(scope, "name", ""))


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
