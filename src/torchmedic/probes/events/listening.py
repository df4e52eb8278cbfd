"""Hearing of the calls that the script makes of a function of torch's, after each has returned."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.record import Probe, shielded


def tell_after(
    probe: Probe, patches: Patches, owner: Any, name: str, told: Callable[[Any, tuple[Any, ...]], None]
) -> None:
    """Call `told(result, arguments)` after every call of `owner.name`; a fault in it switches the probe off alone."""
    original = getattr(owner, name)
    note = shielded(probe)(told)

    @functools.wraps(original)
    def heard(*args: Any, **kwargs: Any) -> Any:
        with frame_hidden:
            result = original(*args, **kwargs)
        if probe.recorder.is_ours:
            note(result, args)
        return result

    patches.replace(owner, name, heard)
