"""Reads a Crash: the message, the failing layer, the tensors of a frame and the names on its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from torchmedic.facts import (
    Crash,
    Frame,
    IndexOutside,
    LayerBuilt,
    Location,
    ModelAtCrash,
    ModuleFact,
    RefetchedSample,
    Run,
    TensorSummary,
    Value,
)
from torchmedic.findings import Also
from torchmedic.rules.errors._syntax import Code


def crash_in(run: Run) -> Crash | None:
    """The exception to explain: what a refetched sample raised, or what stands behind the words of a handler."""
    refetched = run.last(RefetchedSample)
    if refetched is not None and refetched.crash is not None:
        return refetched.crash
    crash = run.first(Crash)
    while crash is not None and crash.cause is not None and (crash.wraps or crash.type_name.endswith("ExceptionGroup")):
        crash = crash.cause
    if crash is None or "DataLoader worker" not in crash.message.partition("\n")[0]:
        return crash
    # A pasted traceback holds the worker's own below the one of the loop that asked for the batch.
    return replace(crash.cause, frames=(*crash.frames, *crash.cause.frames)) if crash.cause is not None else None


def said(crash: Crash | None, *patterns: str) -> re.Match[str] | None:
    """The first pattern that the message contains, in any case."""
    if crash is None:
        return None
    return next((m for p in patterns if (m := re.search(p, crash.message, re.IGNORECASE | re.DOTALL))), None)


def asks_for_slice(crash: Crash | None) -> bool:
    """Whether something with keys was sliced; since Python 3.12 a slice may be a key, and is not found."""
    is_missing = crash is not None and crash.type_name == "KeyError" and said(crash, r"^\(?(?:[^'\"]+, )?slice\(")
    return bool(is_missing) or said(crash, r"unhashable type: 'slice'") is not None


def user_line(crash: Crash) -> Location | None:
    """The innermost line of the user's own code."""
    return crash.user_frame.location if crash.user_frame is not None else None


def layer_frame(crash: Crash) -> Frame | None:
    """The frame of the ready-made layer that failed; None when the user's own `forward` did."""
    frame = crash.module_frame
    return frame if frame is not None and not frame.is_user else None


def layer_in(crash: Crash) -> ModuleFact | None:
    """The ready-made layer that failed."""
    frame = layer_frame(crash)
    return frame.module if frame is not None else None


def short_type(name: str) -> str:
    """`Linear` for `torch.nn.modules.linear.Linear`.

    >>> short_type("torch.nn.modules.linear.Linear")
    'Linear'
    """
    return name.rpartition(".")[2]


def layer_name(module: ModuleFact) -> str:
    """A layer as the reader knows it: its path, else its type; `0: Conv2d` for one that has a number only."""
    kind = short_type(module.type)
    return f"{module.path}: {kind}" if module.path.replace(".", "").isdigit() else module.path or kind


def setting(module: ModuleFact, name: str) -> int | None:
    """A whole number that a layer's constructor was told."""
    text = module.settings.get(name, "")
    return int(text) if text.lstrip("-").isdigit() else None


def layer_input(crash: Crash) -> TensorSummary | None:
    """The first tensor that the failing layer was given."""
    frame = layer_frame(crash)
    return next((t for _, t in tensors(frame)), None) if frame is not None else None


def tensors(frame: Frame | None) -> Iterator[tuple[str, TensorSummary]]:
    """Every tensor or array of a frame under the expression that reaches it: `x`, `batch['y']`, `state[0]`."""
    values = frame.values if frame is not None else ()
    for value in sorted(values, key=lambda v: v.name == "self"):
        yield from _reached(value.name, value)


def _reached(expression: str, value: Value) -> Iterator[tuple[str, TensorSummary]]:
    if value.tensor is not None:
        yield expression, value.tensor
    for item in value.items:
        if item.name.startswith("["):
            inner = f"{expression}{item.name}"
        else:
            inner = f"{expression}['{item.name}']" if value.length is not None else f"{expression}.{item.name}"
        yield from _reached(inner, item)


def tensors_on_line(run: Run, frame: Frame | None) -> list[tuple[str, TensorSummary]]:
    """The tensors of a frame that its failing line mentions, in the order of mention."""
    if frame is None:
        return []
    names = Code.of(run).names(frame.location) or tuple(re.findall(r"[A-Za-z_][\w.]*", frame.location.source))
    words = list(dict.fromkeys(part for name in names for part in (name, name.partition(".")[0])))
    found = [(key, (name, t)) for name, t in tensors(frame) if (key := _mentioned_as(name)) in words]
    return [pair for _, pair in sorted(found, key=lambda item: words.index(item[0]))]


def _mentioned_as(expression: str) -> str:
    """What a line has to mention: the variable, or for `self` the attribute."""
    first, _, rest = expression.partition("[")[0].partition(".")
    return f"self.{rest}" if first == "self" else first


def lacks_data(run: Run, crash: Crash) -> bool:
    """Whether a model's parameters are on meta; a script that puts its data there too means a device like any other."""
    held = (t for f in crash.frames if f.is_user for _, t in tensors(f))
    if any(t.device == "meta" and not t.is_parameter and not t.grad_fn and t.is_leaf for t in held):
        return False
    return crash.source == "text" or any("meta" in (m.devices or {}) for m in run.all(ModelAtCrash))


def sample_of(fact: IndexOutside) -> Iterator[str]:
    """Which row of the data set brought an index that lies outside, where that is known."""
    if fact.sample is not None:
        yield f"that row of the batch is sample {fact.sample} of the data set"


def quoted(name: str) -> str:
    """A name in backticks; words such as "the input" stay words.

    >>> quoted("x"), quoted("the input")
    ('`x`', 'the input')
    """
    return name if name.startswith(("the ", "a ", "its ")) else f"`{name}`"


def shape(sizes: Sequence[int]) -> str:
    """`[64, 1, 28, 28]`"""
    return f"[{', '.join(map(str, sizes))}]"


def described(found: Sequence[tuple[str, TensorSummary]], most: int = 6) -> str:
    """`pred` is float32[8, 1], `y` is float32[8]"""
    return ", ".join(f"`{name}` is {tensor}" for name, tensor in found[:most])


def owner_class(crash: Crash) -> str:
    """The class whose method the innermost user frame runs."""
    where = user_line(crash)
    return where.function.rpartition(".")[0].rpartition(".")[2] if where is not None else ""


def built_at(run: Run, module: ModuleFact) -> Location | None:
    """The line that made a layer."""
    made = (seen for seen in run.all(LayerBuilt) if seen.path == module.path and seen.type == module.type)
    return next((seen.location for seen in made), None)


def also(*places: tuple[Location | None, str], but: Location | None = None) -> tuple[Also, ...]:
    """Second places, without empty ones and without the first place."""
    kept: list[Also] = []
    for place, why in places:
        known = [(a.location.file, a.location.line) for a in kept] + ([(but.file, but.line)] if but else [])
        if place is not None and (place.file, place.line) not in known:
            kept.append(Also(location=place, why=why))
    return tuple(kept)
