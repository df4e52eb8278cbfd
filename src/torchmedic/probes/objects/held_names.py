"""Under which name the frames of the script hold a model or a tensor."""

from __future__ import annotations

import sys

import torch
from torch import nn

from torchmedic.facts import Location
from torchmedic.probes.objects.contents import pairs_in
from torchmedic.probes.source.frames import is_user_file, names_in, outward


def held_as(root: nn.Module) -> str:
    """The variable, or the attribute of some object, that holds a model in the frames around this call."""
    for frame in outward(sys._getframe(1)):
        if not is_user_file(frame.f_code.co_filename):
            continue
        for name, thing in list(names_in(frame).items()):
            if thing is root:
                return name
            attributes = getattr(thing, "__dict__", {}) if not isinstance(thing, (type, nn.Module)) else {}
            if type(attributes) is dict:
                for attribute, held in list(attributes.items()):
                    if held is root:
                        return str(attribute)
    return ""


def name_in_frames(leaf: torch.Tensor) -> tuple[str, Location | None]:
    """The variable that holds a tensor in the frames around this call."""
    for frame in outward(sys._getframe(1)):
        if not is_user_file(frame.f_code.co_filename):
            continue
        for scope in (frame.f_locals, frame.f_globals):
            for name, thing in list(scope.items()):
                if thing is leaf:
                    return name, None
                if isinstance(thing, (list, tuple)) and len(thing) < 1000 and any(item is leaf for item in thing):
                    return name, None
                if isinstance(thing, dict) and len(thing) < 1000 and any(item is leaf for _, item in pairs_in(thing)):
                    return name, None
    return "", None
