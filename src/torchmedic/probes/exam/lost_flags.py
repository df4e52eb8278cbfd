"""The exam of flags that no checkpoint keeps: does a model set itself up again, by its first batch, after a load."""

from __future__ import annotations

import ast
import functools
import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchmedic.facts import FlagNotKept, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import file_of, is_user_file, location, user_location
from torchmedic.probes.source.sources import hung_at
from torchmedic.record import Probe, Recorder, shielded

_MOST_LOADS = 20
_MOST_WAITING = 200
_MOST_VALUES = 4_096

Values = dict[str, torch.Tensor]


@late_dataclass()
class _Waiting:
    """A module with a flag that says "not yet" after a load; `held` is what it held when it was first called."""

    module: weakref.ref[nn.Module]
    flag: str
    guard: Location
    loaded_at: Location | None
    names: tuple[str, ...]
    held: Values | None = None


class LostFlags(Probe):
    """Watches modules that set up their own parameters under a flag, from a load to their first call."""

    name = "lost-flags"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._waiting: dict[int, list[_Waiting]] = {}
        self._told: dict[tuple[type, str], list[FlagNotKept]] = {}
        self._loads = 0
        original = nn.Module.load_state_dict
        find, note = shielded(self)(_fresh), shielded(self)(self._note)

        @functools.wraps(original)
        def load_state_dict(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            is_new = self._loads < _MOST_LOADS and self.recorder.is_ours
            fresh = find(module) if is_new else None
            with frame_hidden:
                result = original(module, *args, **kwargs)
            if fresh:
                self._loads += 1
                note(module, fresh, result)
            return result

        self._patches.replace(nn.Module, "load_state_dict", load_state_dict)
        recorder.rest(self)

    def remove(self) -> None:
        self._waiting.clear()
        self._patches.restore()

    def _note(self, module: nn.Module, fresh: dict[str, Values], result: Any) -> None:
        """Of a module whose values were not in the file, or were those of a new one, nothing was learned yet."""
        missing = set(getattr(result, "missing_keys", ()))
        place = user_location()
        parts = dict(module.named_modules())
        for path, before in fresh.items():
            prefix = f"{path}." if path else ""
            now = _values(parts[path])
            loaded = tuple(n for n in before if prefix + n not in missing and not torch.equal(before[n], now[n]))
            for flag, guard in _flags(parts[path].__class__) if loaded else ():
                if _says_not_yet(parts[path], flag) and len(self._waiting) < _MOST_WAITING:
                    one = _Waiting(weakref.ref(parts[path]), flag, guard, place, loaded)
                    self._waiting.setdefault(id(parts[path]), []).append(one)
        if self._waiting:
            self._modules.listen(self.name, self._called)
            self.recorder.wake(self)

    def on_forward(self, module: nn.Module) -> None:
        self._called(module)

    def _called(self, module: nn.Module) -> None:
        """What `eval()` or the script itself has changed since the load was meant: the call is what counts."""
        for one in self._waiting.get(id(module), ()):
            if one.held is None and one.module() is module:
                one.held = _values(module) if _says_not_yet(module, one.flag) else {}

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        # From the first update on parameters change by right.
        self._judge()

    def on_finish(self) -> None:
        self._judge()
        for facts in self._told.values():
            self.recorder.observe(facts[0])

    def _judge(self) -> None:
        """Look at those that were called since their load; the others wait on."""
        called = {key: group for key, group in self._waiting.items() if any(one.held is not None for one in group)}
        for one in (one for group in called.values() for one in group):
            module = one.module()
            if module is not None and one.held and not _says_not_yet(module, one.flag):
                now = _values(module)
                changed = tuple(n for n in one.names if n in now and not torch.equal(one.held[n], now[n]))
                learned = {name for name, _ in module.named_parameters()}
                # A buffer may well move with every batch of a training.
                if any(name in learned or not module.training for name in changed):
                    self._tell(module, one, changed)
        self._waiting = {key: group for key, group in self._waiting.items() if key not in called}
        if not self._waiting:
            self._modules.stop_listening(self.name)
            self.recorder.rest(self)

    def _tell(self, module: nn.Module, one: _Waiting, changed: tuple[str, ...]) -> None:
        kind = type(module)
        self._told.setdefault((kind, one.flag), []).append(
            FlagNotKept(
                step=self.recorder.step,
                module=kind.__name__,
                flag=one.flag,
                set_at=hung_at(kind, one.flag),
                guard=one.guard,
                loaded_at=one.loaded_at,
                changed=changed,
            )
        )


def _fresh(module: nn.Module) -> dict[str, Values]:
    """The values of all parts that have a flag which says "not yet"."""
    return {
        path: _values(part)
        for path, part in module.named_modules()
        if any(_says_not_yet(part, flag) for flag, _ in _flags(part.__class__))
    }


def _values(module: nn.Module) -> Values:
    held = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    plain = {name: t for name, t in held.items() if t.layout == torch.strided and not (t.is_meta or is_lazy(t))}
    return {name: tensor.detach().flatten()[:_MOST_VALUES].clone() for name, tensor in plain.items()}


def _says_not_yet(module: nn.Module, flag: str) -> bool:
    value = vars(module).get(flag, ...)
    return value is None or (isinstance(value, (bool, int)) and not value)


def _flags(kind: type) -> tuple[tuple[str, Location], ...]:
    """Attributes of a user's class that guard a block which reads what a method was called with."""
    file = file_of(kind)
    return _flags_in(file, kind.__name__) if is_user_file(file) else ()


@functools.lru_cache(maxsize=512)
def _flags_in(file: str, name: str) -> tuple[tuple[str, Location], ...]:
    tree = parsed(file)
    own = (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == name) if tree else iter(())
    found = dict(reversed([each for node in own for each in _guards(node)]))
    return tuple((flag, location(file, line, name)) for flag, line in found.items())


def _guards(node: ast.ClassDef) -> Iterator[tuple[str, int]]:
    for method in node.body:
        if not isinstance(method, ast.FunctionDef) or method.name in ("__init__", "train") or not method.args.args:
            continue
        given = {argument.arg for argument in method.args.args[1:]}
        for block in (n for n in ast.walk(method) if isinstance(n, ast.If)):
            inside = {id(n) for statement in block.body for n in ast.walk(statement)}
            names = [n for n in ast.walk(method) if isinstance(n, ast.Name)]
            known = given | {n.id for n in names if isinstance(n.ctx, ast.Store) and id(n) not in inside}
            reads = any(isinstance(n.ctx, ast.Load) and n.id in known for n in names if id(n) in inside)
            if reads or all(isinstance(statement, ast.Return) for statement in block.body):
                yield from ((flag, block.lineno) for flag in _own_attributes(block.test, method.args.args[0].arg))


def _own_attributes(test: ast.expr, owner: str) -> Iterator[str]:
    for node in ast.walk(test):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == owner:
            yield node.attr
