"""The exam of loaded weights: are they still there when the model is first called."""

from __future__ import annotations

import ast
import functools
import weakref
from typing import Any

from torch import nn

from torchmedic.facts import LoadOverwritten, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.objects.holdings import Fingerprint, are_unlike
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import location, user_location
from torchmedic.probes.source.sources import file_at, user_files
from torchmedic.record import Probe, Recorder, shielded

_MOST_LOADS = 20
_MOST_MATRICES = 12
_MOST_WAITING = 4
_SETTING = (
    "apply",
    "init_weights",
    "_init_weights",
    "initialize_weights",
    "reset_parameters",
    "weights_init",
    "_reset",
)


@late_dataclass()
class _Loaded:
    """What a module's largest matrices were right after a load."""

    module: weakref.ref[nn.Module]
    where: Location | None
    prints: dict[str, Fingerprint]


class OverwritingExam(Probe):
    """Compares a few matrices at the first call of a model after a load, and is idle otherwise."""

    name = "overwriting-exam"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._waiting: list[_Loaded] = []
        self._loads = 0
        original = nn.Module.load_state_dict
        note = shielded(self)(self._note)

        @functools.wraps(original)
        def load_state_dict(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                result = original(module, *args, **kwargs)
            if self._loads < _MOST_LOADS and self.recorder.is_ours:
                self._loads += 1
                note(module)
            return result

        self._patches.replace(nn.Module, "load_state_dict", load_state_dict)
        recorder.rest(self)

    def remove(self) -> None:
        self._waiting.clear()
        self._patches.restore()

    def _note(self, module: nn.Module) -> None:
        matrices = {name: p for name, p in module.named_parameters() if p.ndim > 1 and p.device.type != "meta"}
        largest = sorted(matrices, key=lambda name: -matrices[name].numel())[:_MOST_MATRICES]
        self._waiting = [one for one in self._waiting if one.module() is not module][-_MOST_WAITING:]
        self._waiting.append(
            _Loaded(weakref.ref(module), user_location(), {name: Fingerprint.of(matrices[name]) for name in largest})
        )
        self._modules.listen(self.name)
        self.recorder.wake(self)

    def on_forward(self, module: nn.Module) -> None:
        """A model is called: what was loaded into it, or into a part of it, is in use from now on."""
        parts = {id(part) for part in module.modules()} if self._waiting else set()
        for loaded in [one for one in self._waiting if id(one.module()) in parts]:
            self._waiting.remove(loaded)
            self._compare(loaded)
        if not self._waiting:
            self._modules.stop_listening(self.name)

    def on_step_done(self, optimizer: Any) -> None:
        # A step ends all waiting: weights change by right from now on.
        self._waiting.clear()
        self._modules.stop_listening(self.name)
        self.recorder.rest(self)

    def _compare(self, loaded: _Loaded) -> None:
        module = loaded.module()
        now = dict(module.named_parameters()) if module is not None else {}
        changed = [name for name, kept in loaded.prints.items() if name in now and not kept.fits(now[name])]
        # Half formats and quantising change values a little, and mean no new weights.
        changed = [name for name in changed if are_unlike(loaded.prints[name], Fingerprint.of(now[name]))]
        if module is None or not changed:
            return
        place, text = _line_after(loaded.where)
        self.recorder.observe(
            LoadOverwritten(
                step=self.recorder.step,
                module=type(module).__name__,
                loaded=loaded.where,
                overwritten=place,
                overwritten_text=text,
                changed=len(changed),
                looked_at=len(loaded.prints),
                example=changed[0],
            )
        )


def _line_after(loaded: Location | None) -> tuple[Location | None, str]:
    """The nearest line that sets weights anew: after the load in its file, or anywhere."""
    near = file_at(loaded)
    for file in (near, *(file for file in user_files() if file != near)) if near else user_files():
        tree = parsed(file)
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)] if tree is not None else []
        setting = [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr in _SETTING]
        first = loaded.line if file == near and loaded is not None else 0
        later = sorted((c for c in setting if c.lineno > first), key=lambda c: c.lineno)
        if later:
            return location(file, later[0].lineno), ast.unparse(later[0])
    return None, ""
