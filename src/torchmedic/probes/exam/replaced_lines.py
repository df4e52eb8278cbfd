"""Finds the line that put a younger module into the place of one that an optimizer holds."""

from __future__ import annotations

from torch import nn

from torchmedic.facts import Location
from torchmedic.probes.events.modules import Birth, Modules
from torchmedic.probes.objects.held_names import held_as
from torchmedic.probes.objects.holdings import Registered
from torchmedic.probes.source.argument_lines import assigned_later, is_returned


def replaced_at(modules: Modules, owner: Registered, since: int, own: Birth | None) -> Location | None:
    """Where the largest module around a parameter was made: of those younger than the optimizer, if there are any.

    A function that makes modules for others is not that line: it made the one before as well. A parameter that was put
    into an older module was born by itself.
    """
    root_birth = modules.birth(owner.root)
    if root_birth is not None and root_birth.pretrained:
        put = _put_in_place(root_birth, held_as(owner.root))
        if put is not None:
            return put
    births = [
        (name, birth)
        for name, module in _way(owner)
        if (birth := modules.birth(module)) is not None and birth.where is not None
    ]
    younger = [(name, birth) for name, birth in births if birth.order > since]
    if younger:
        name, birth = younger[0]
        return _put_in_place(birth, name or held_as(owner.root)) or birth.where
    chosen = ([own] if own is not None else [birth for _, birth in births[1:]]) or [birth for _, birth in births]
    return chosen[0].where if chosen else None


def _put_in_place(birth: Birth, name: str) -> Location | None:
    """Where what was loaded or copied as a whole took the place of the one before; where it was made, if it was."""
    if not name.isidentifier():
        return None
    found = ((at, assigned_later(at, name)) for at in (birth.where, *birth.callers) if not is_returned(at, name))
    return next(((put if birth.pretrained else at) for at, put in found if put is not None), None)


def _way(owner: Registered) -> list[tuple[str, nn.Module]]:
    """The modules from the root down to the one that owns a parameter, by name; plain containers say nothing."""
    found = [("", owner.root)]
    for name in owner.path.split(".")[:-1]:
        inner = found[-1][1]._modules.get(name)
        if inner is None:
            break
        found.append((name, inner))
    return [(name, module) for name, module in found if type(module) not in (nn.ModuleList, nn.ModuleDict)]
