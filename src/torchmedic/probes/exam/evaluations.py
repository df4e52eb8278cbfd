"""The exam of evaluations: passes without gradient through a model that is in training mode."""

from __future__ import annotations

import ast
import functools
import weakref
from collections import Counter
from typing import Any

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from torchmedic.facts import EvaluatedInTrain, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.listening import tell_after
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.events.patching import Patches
from torchmedic.probes.exam.modes import ModeExam, depends_on_mode
from torchmedic.probes.source.expressions import called_name, function_of, parsed
from torchmedic.probes.source.frames import is_user_file, location, location_of, user_frame, user_location
from torchmedic.probes.source.grad_blocks import GradBlocks, Site
from torchmedic.probes.source.sources import file_at
from torchmedic.record import Probe, Recorder, shielded

_MOST_LOOKS = 200
_MOST_LOADED = 40
_LEAST_COUNTED = 10


@late_dataclass()
class _Seen:
    """A trained model that was run without gradient while in training mode.

    Of one that was only loaded, `loaded` is where; its passes after the same step, the last of which is `step`, count
    as one phase.
    """

    reference: weakref.ref[nn.Module]
    kind: type
    layers: dict[str, int]
    phases: int
    where: Location | None
    block: Location | None
    block_text: str
    loaded: Location | None = None
    step: int = 0


class EvaluationExam(Probe):
    """Listens for the first module call after the user's code switches gradients off."""

    name = "evaluation-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers, modes: ModeExam) -> None:
        self._modules = modules
        self._optimizers = optimizers
        self._modes = modes

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._seen: dict[int, _Seen] = {}
        self._looks = 0
        self._block: tuple[Location, str] | None = None
        self._shielded_begin = shielded(self)(self._begin)
        self._loaded: dict[int, tuple[weakref.ref[nn.Module], Location]] = {}
        self._patches = Patches()
        tell_after(self, self._patches, nn.Module, "load_state_dict", lambda _result, args: self._note_loaded(args[0]))
        GradBlocks.add(self)

    def remove(self) -> None:
        GradBlocks.remove(self)
        self._patches.restore()

    def _note_loaded(self, module: nn.Module) -> None:
        where = user_location()
        if where is not None and len(self._loaded) < _MOST_LOADED:
            self._loaded[id(module)] = weakref.ref(module), where

    def on_any_mode(self, module: Any, training: bool) -> None:
        """Who calls `eval()` on a loaded model, or on what it is a part of, knows of modes."""
        if not training and self._loaded:
            for part in module.modules():
                self._loaded.pop(id(part), None)

    def block_begins(self, site: Site) -> None:
        if self.recorder.step and self._block is None and self._looks < _MOST_LOOKS and self.recorder.is_ours:
            self._shielded_begin(site)

    def block_ends(self) -> None:
        if self._block is not None:
            self._end()

    def _begin(self, site: Site) -> None:
        block = _statement(site[0].co_filename, site[1], site[0].co_qualname)
        if block is not None:
            self._looks += 1
            self._block = block
            self._modules.listen(self.name)

    def _end(self) -> None:
        self._block = None
        self._modules.stop_listening(self.name)

    def on_forward(self, module: nn.Module) -> None:
        block = self._block
        if block is None:
            return
        self._end()
        known = self._seen.get(id(module))
        if known is not None and known.reference() is module:
            if known.loaded is None or known.step != self.recorder.step:
                known.phases += any(m.training for m in module.modules() if depends_on_mode(m))
            known.step = self.recorder.step
        elif self._is_trained(module) or self._loaded_at(module) is not None:
            sensitive = [m for m in module.modules() if depends_on_mode(m) and m.training]
            if sensitive:
                frame = user_frame()
                self._seen[id(module)] = _Seen(
                    reference=weakref.ref(module),
                    kind=type(module),
                    layers=dict(Counter(type(m).__name__ for m in sensitive)),
                    phases=1,
                    where=location_of(frame) if frame is not None else None,
                    block=block[0],
                    block_text=block[1],
                    loaded=None if self._is_trained(module) else self._loaded_at(module),
                    step=self.recorder.step,
                )

    def on_finish(self) -> None:
        for key, seen in self._seen.items():
            module = seen.reference()
            if seen.loaded is not None and (key not in self._loaded or (module and self._is_trained(module))):
                continue
            self.recorder.observe(
                EvaluatedInTrain(
                    model=seen.kind.__name__,
                    layers=seen.layers,
                    phases=seen.phases,
                    steps=self.recorder.step if seen.loaded is None else seen.step,
                    where=seen.where,
                    block=seen.block,
                    block_text=seen.block_text,
                    eval_calls=self._modes.eval_calls(key),
                    own_train=_own_train(seen.kind),
                    train_called=_train_called(seen.block),
                    loaded=seen.loaded,
                )
            )

    def _is_trained(self, module: nn.Module) -> bool:
        held = {id(p) for o in self._optimizers.alive() for g in o.param_groups for p in g["params"]}
        return any(id(p) in held for p in module.parameters())

    def _loaded_at(self, module: nn.Module) -> Location | None:
        """Where a model was loaded, with statistics of BatchNorm in training mode that a training has made."""
        reference, where = self._loaded.get(id(module), (None, None))
        if reference is None or reference() is not module:
            return None
        norms = [m for m in module.modules() if isinstance(m, _BatchNorm) and m.training]
        counts = [int(m.num_batches_tracked) for m in norms if m.num_batches_tracked is not None]
        return where if max(counts, default=0) >= _LEAST_COUNTED else None


def _own_train(kind: type) -> Location | None:
    """The line of a class's own `train(mode)` that calls `super().train()` and does not hand the mode on."""
    for cls in kind.__mro__:
        code = getattr(vars(cls).get("train"), "__code__", None)
        if code is None or not is_user_file(code.co_filename):
            continue
        own = function_of(code)
        for node in ast.walk(own) if own is not None else ():
            is_call = isinstance(node, ast.Call) and ast.unparse(node.func) == "super().train"
            if is_call and isinstance(node, ast.Call) and not node.args and not node.keywords:
                return location(code.co_filename, node.lineno, code.co_qualname)
    return None


def _train_called(block: Location | None) -> Location | None:
    """The call of `train()` before a block in a function that only evaluates."""
    file = file_at(block)
    tree = parsed(file) if file else None
    if block is None or tree is None:
        return None
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    around = [f for f in functions if f.lineno <= block.line <= (f.end_lineno or 0)]
    if not around:
        return None
    calls = [n for n in ast.walk(max(around, key=lambda f: f.lineno)) if isinstance(n, ast.Call)]
    named = [(called_name(call), call) for call in calls]
    before = [c.lineno for name, c in named if name == "train" and not c.args and c.lineno < block.line]
    return location(file, max(before), block.function) if before and "backward" not in dict(named) else None


@functools.lru_cache(maxsize=_MOST_LOOKS)
def _statement(file: str, line: int, function: str) -> tuple[Location, str] | None:
    tree = parsed(file)
    for node in ast.walk(tree) if tree else ():
        marks = [d.lineno for d in node.decorator_list] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, (ast.With, ast.FunctionDef)) and line in (node.lineno, *marks):
            return location(file, line, function), f"{function} {ast.unparse(node)}"[:2_000]
    return None
