"""Names a tensor that came into the step from outside: batch field, parameter, buffer, variable."""

from __future__ import annotations

import contextlib
import linecache
import math
import re
import traceback
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchmedic.facts import Histogram, Source
from torchmedic.probes.data.field_checks import checked
from torchmedic.probes.events.loaded_files import file_of
from torchmedic.probes.graph.trace import storage_key
from torchmedic.probes.objects.spreads import histogram, rows_as_text, some_values, tensors_in
from torchmedic.probes.objects.values import torch_summary
from torchmedic.probes.source.frames import is_user_file, outward
from torchmedic.replay.beginnings import Handed

_MOST_SHOWN = 8
_MOST_EXAMPLES = 3
_LABEL_NAMES = {"y", "yb", "label", "labels", "target", "targets", "tgt", "y_true", "gt"}


def identify(
    key: int,
    *,
    roots: list[nn.Module],
    handed: tuple[Handed, ...],
    frame: FrameType | None,
    like: torch.Tensor | None,
) -> Source | None:
    """The best name for the storage `key`: a parameter or buffer, a batch field, else a variable of the script.

    A batch that was moved to a device or copied on its way has another storage: `like`, the tensor the step read,
    is then compared by form and by where it is bad.
    """
    found = find(key, roots=roots, handed=handed, frame=frame, like=like)
    return describe_source(*found) if found is not None else None


def find(
    key: int,
    *,
    roots: list[nn.Module],
    handed: tuple[Handed, ...],
    frame: FrameType | None,
    like: torch.Tensor | None,
) -> tuple[str, str, torch.Tensor, Handed | None] | None:
    """What kind of thing holds the storage `key`, its name, the tensor, and the batch it belongs to."""
    known = list(_known(roots, handed, frame))
    exact = (thing for thing in known if storage_key(thing[2]) == key)
    alike = (t for t in known if like is not None and t[0] == "batch" and _looks_the_same(t[2], like))
    return next(exact, None) or next(alike, None)


def _known(
    roots: list[nn.Module], handed: tuple[Handed, ...], frame: FrameType | None
) -> Iterator[tuple[str, str, torch.Tensor, Handed | None]]:
    for root in roots:
        yield from (("parameter", name, p, None) for name, p in root.named_parameters() if not is_lazy(p))
        yield from (("buffer", name, b, None) for name, b in root.named_buffers() if not is_lazy(b))
    for given in reversed(handed):
        yield from (("batch", name, t, given) for name, t in tensors_in(given.batch, "batch"))
    yield from ((origin, name, tensor, None) for origin, name, tensor in variables(frame))


def _looks_the_same(tensor: torch.Tensor, like: torch.Tensor) -> bool:
    if tensor.shape != like.shape or not tensor.is_floating_point():
        return False
    return bool(torch.equal(torch.isfinite(tensor).cpu(), torch.isfinite(like).cpu()))


def variables(frame: FrameType | None) -> Iterator[tuple[str, str, torch.Tensor]]:
    """Tensors that the user's frames can reach by a name, one or two steps deep; what a name holds itself first."""
    for f in outward(frame):
        if not is_user_file(f.f_code.co_filename):
            continue
        for name, thing in [*_plainest_first(f.f_locals), *_plainest_first(f.f_globals)]:
            yield from (("variable", path, t) for path, t in tensors_in(thing, name))


def _plainest_first(names: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The user's own names, tensors before what contains some. A notebook's shell lies there too, and knows all."""
    own = [
        (name, thing)
        for name, thing in names.items()
        if not name.startswith("__") and not type(thing).__module__.startswith("IPython.")
    ]
    return sorted(own, key=lambda item: (not issubclass(type(item[1]), torch.Tensor), item[0].startswith("_")))


def describe_source(origin: str, name: str, tensor: torch.Tensor, given: Handed | None = None) -> Source:
    """Where in the tensor the bad values are."""
    summary = torch_summary(tensor)
    if not tensor.is_floating_point():
        return Source(origin=origin, name=name, tensor=summary, file=file_of(tensor))
    bad = ~torch.isfinite(tensor.detach())
    rows = _positions(bad.flatten(1).any(1)) if bad.dim() > 1 else _positions(bad.reshape(-1))
    columns = _positions(bad.reshape(-1, bad.shape[-1]).any(0)) if bad.dim() > 1 else []
    leaf = name.rpartition(".")[2].rpartition("[")[0] or name.rpartition(".")[2]
    values = tensor.detach()[bad]
    return Source(
        origin=origin,
        name=name,
        tensor=summary,
        file=file_of(tensor),
        rows=tuple(rows[:_MOST_SHOWN]),
        row_count=len(rows),
        columns=tuple(columns[:_MOST_SHOWN]),
        column_count=len(columns),
        sample=_sample(rows, given.indices if given is not None else None),
        dataset=given.dataset if given is not None else "",
        is_label=leaf.lower() in _LABEL_NAMES or name.lower() in _LABEL_NAMES,
        value=str(float(values[0])) if values.numel() else "",
        histogram=_spread(tensor, columns),
        checked=checked(name, tensor) if origin in ("batch", "variable") else None,
        examples=rows_as_text(tensor, rows[:_MOST_EXAMPLES], columns[0] if columns else 0),
    )


def _spread(tensor: torch.Tensor, columns: list[int]) -> Histogram | None:
    """The spread of the bad column where there is one, else that of all values."""
    values = some_values(tensor[..., columns[0]] if len(columns) == 1 else tensor)
    return histogram(values) if values is not None else None


def _positions(mask: torch.Tensor) -> list[int]:
    return [int(i) for i in mask.nonzero().reshape(-1)]


def _sample(rows: list[int], indices: Any) -> int | None:
    """The data set's index of the first bad row of a batch."""
    if not rows or not isinstance(indices, (list, tuple)) or rows[0] >= len(indices):
        return None
    return int(indices[rows[0]])


_SAYS_SO = re.compile(r"\b(nan|inf|infinite|non-?finite|isnan|isfinite|isinf)\b", re.IGNORECASE)


def stopped_for_bad_numbers(error: BaseException) -> bool:
    """Whether an exception speaks of NaN or infinity and a variable of its frames holds one."""
    frames = [f for f, _ in traceback.walk_tb(error.__traceback__) if is_user_file(f.f_code.co_filename)]
    if not frames:
        return False
    line = linecache.getline(frames[-1].f_code.co_filename, frames[-1].f_lineno or 0)
    if not _SAYS_SO.search(f"{error} {line}"):
        return False
    return any(_is_bad_number(value) for frame in frames for value in frame.f_locals.values())


def _is_bad_number(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, torch.Tensor) and value.is_floating_point() and not value.is_meta:
        with contextlib.suppress(RuntimeError):  # a card that has failed does not answer any more
            return not bool(torch.isfinite(value.detach()).all())
    return False
