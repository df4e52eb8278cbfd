"""The exam of loader workers: do they draw the same random numbers or hand out the same samples as each other."""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import weakref
from collections.abc import Iterator
from typing import Any

from torch.utils.data import dataloader, get_worker_info

from torchmedic.facts import Location, SamplesRepeated, WorkerStream
from torchmedic.late import late_dataclass
from torchmedic.probes.data.worker_samples import handed_out_at, repeated, watch_stream
from torchmedic.probes.events.loaders import Loaders
from torchmedic.probes.events.patching import Patches, hide_frame
from torchmedic.probes.objects.streams import digests, held_generators
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import is_user_file, location
from torchmedic.probes.source.making_lines import attribute_made, line_made
from torchmedic.probes.source.sources import hung_at, variable_made_at
from torchmedic.record import Probe, Recorder, shielded

_FILE = "worker-streams.jsonl"
_MOST_BYTES = 200_000
_MOST_INDICES = 8


@late_dataclass()
class _Source:
    """A data set that is read by workers: what must be asked while it is alive."""

    reference: weakref.ref[Any]
    kind: str
    built: Location | None
    seeded: Location | None
    held: dict[str, Location | None]
    handed_out: Location | None
    trained: bool = False


class WorkerExam(Probe):
    """Workers write the states around their first batch, and what a stream hands out, into a file; read at the end.

    Only forked workers are seen: one that is spawned does not have our patches.
    """

    name = "worker-exam"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._sources: dict[int, _Source] = {}
        self._latest: _Source | None = None
        self._judged: dict[int, int] = {}
        self._file = recorder.folder / _FILE
        original = dataloader._DatasetKind.create_fetcher

        @functools.wraps(original)
        def create_fetcher(kind: Any, dataset: Any, *args: Any, **kwargs: Any) -> Any:
            fetcher = original(kind, dataset, *args, **kwargs)  # type: ignore[no-untyped-call]
            if get_worker_info() is not None and kind == dataloader._DatasetKind.Map:
                _watch_first(fetcher, dataset, str(self._file))
            elif get_worker_info() is not None:
                watch_stream(fetcher, lambda told: _write(str(self._file), {"dataset": id(dataset), **told}))
            return fetcher

        self._patches.replace(dataloader._DatasetKind, "create_fetcher", staticmethod(create_fetcher))

    def remove(self) -> None:
        self._patches.restore()
        self._file.unlink(missing_ok=True)

    def on_batch(self, batch: Any, iterator: Any) -> None:
        dataset = iterator._dataset if getattr(iterator, "_workers", None) else None
        self._latest = self._meet(dataset, iterator) if hasattr(type(dataset), "__weakref__") else None
        if self._latest is not None and not self._latest.trained:
            self.recorder.wake(self)

    def _meet(self, dataset: Any, iterator: Any) -> _Source:
        key = id(dataset)
        known = self._sources.get(key)
        if known is None or known.reference() is not dataset:
            judge = shielded(self)(self._judge)
            known = self._sources[key] = _Source(
                # Another data set may come to lie where this one lay: what was written of it is read when it goes.
                reference=weakref.ref(dataset, lambda _: judge(key)),
                kind=type_name(dataset),
                built=self._loaders.built_for(iterator),
                seeded=_seeded_at(getattr(iterator, "_worker_init_fn", None)),
                held={name: _made_at(name, dataset) for name, _ in held_generators(dataset)},
                handed_out=handed_out_at(type(dataset)),
            )
        return known

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._latest is not None:
            self._latest.trained = True
        self.recorder.rest(self)

    def on_finish(self) -> None:
        for key in list(self._sources):
            self._judge(key)

    def _judge(self, key: int) -> None:
        source = self._sources.pop(key, None)
        if source is None or not source.trained or not self._file.exists():
            return
        seen = [json.loads(line) for line in self._file.read_text().splitlines()]
        mine = [report for report in seen[self._judged.get(key, 0) :] if report["dataset"] == key]
        self._judged[key] = len(seen)
        drawn = [report for report in mine if "before" in report]
        facts: list[WorkerStream | SamplesRepeated | None] = [
            _fact(stream, drawn, source) for stream in sorted({name for one in drawn for name in one["before"]})
        ]
        facts.append(repeated(mine, source.kind, source.handed_out, source.built))
        for fact in facts:
            if fact is not None:
                self.recorder.observe(fact)


def _watch_first(fetcher: Any, dataset: Any, file: str) -> None:
    """In a worker: compare the states around the first fetch, once."""
    try:
        before = digests(dataset)
    except Exception:  # noqa: BLE001 - the user's run goes on without this exam
        return
    fetch = fetcher.fetch

    def first(index: Any) -> Any:
        del fetcher.fetch
        try:
            result = fetch(index)
        except BaseException as error:
            hide_frame(error)
            raise
        _report(dataset, file, before, index)
        return result

    fetcher.fetch = first


def _report(dataset: Any, file: str, before: dict[str, str], index: Any) -> None:
    try:
        after = digests(dataset)
        worker = get_worker_info()
        drawn = {name: state for name, state in before.items() if after.get(name) != state}
        if worker is None or not drawn:
            return
        samples = [int(i) for i in (index if isinstance(index, (list, tuple)) else [index])[:_MOST_INDICES]]
        told = {
            "dataset": id(dataset),
            "pass": worker.seed - worker.id,
            "worker": worker.id,
            "workers": worker.num_workers,
            "before": drawn,
            "samples": samples,
        }
        _write(file, told)
    except Exception:  # noqa: BLE001 - the user's run goes on without this exam
        return


def _write(file: str, told: dict[str, Any]) -> None:
    if not os.path.exists(file) or os.path.getsize(file) <= _MOST_BYTES:
        with open(file, "a", encoding="utf-8") as out:
            out.write(json.dumps(told) + "\n")


def _fact(stream: str, reports: list[dict[str, Any]], source: _Source) -> WorkerStream | None:
    drawn = [report for report in reports if stream in report["before"]]
    passes: dict[int, list[dict[str, Any]]] = {}
    for report in drawn:
        passes.setdefault(report["pass"], []).append(report)
    alike = min(_most_common(report["before"][stream] for report in one) for one in passes.values())
    first = [one for one in drawn if one["worker"] == drawn[0]["worker"]]
    repeated = _most_common(report["before"][stream] for report in first)
    if alike < 2 and repeated < 2:
        return None
    return WorkerStream(
        stream=stream,
        dataset=source.kind,
        workers=drawn[0]["workers"],
        alike=alike,
        passes=len(passes),
        repeated=repeated,
        same_samples=len(first) > 1 and all(report["samples"] == first[0]["samples"] for report in first),
        held=stream in source.held,
        where=source.held.get(stream, source.seeded),
        loader_built=source.built,
    )


def _most_common(states: Iterator[str]) -> int:
    counts: dict[str, int] = {}
    for state in states:
        counts[state] = counts.get(state, 0) + 1
    return max(counts.values(), default=0)


def _made_at(stream: str, dataset: Any) -> Location | None:
    """Where a generator was made: for an attribute of the data set or of what it holds, or as a name of its file."""
    if not stream.startswith("self."):
        return variable_made_at(stream)
    *path, attribute = re.findall(r"\w+", re.sub(r"(\[\d+\])+$", "", stream.removeprefix("self.")))
    owner = dataset
    for name in path:
        owner = owner[int(name)] if name.isdecimal() else getattr(owner, name, None)
    hung, made = hung_at(type(owner), attribute), line_made(attribute_made(type(owner), attribute))
    is_given = made is not None and (hung is None or (made.file, made.line) != (hung.file, hung.line))
    return made if is_given else hung


def _seeded_at(starter: Any) -> Location | None:
    """The first call of something named `seed` in a `worker_init_fn`, or the line of the function."""
    code = getattr(getattr(starter, "func", starter), "__code__", None)
    if code is None or not is_user_file(code.co_filename):
        return None
    lines = {line for _, _, line in code.co_lines() if line}
    tree = parsed(code.co_filename)
    calls = [
        node.lineno
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, ast.Call) and node.lineno in lines and "seed" in ast.unparse(node.func).lower()
    ]
    return location(code.co_filename, min(calls, default=code.co_firstlineno), code.co_qualname)
