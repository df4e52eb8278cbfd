"""A memory plan for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchmedic.facts import Location, MemoryPlan

_GIB = 1 << 30
_MIB = 1 << 20
_KIB = 1 << 10
_ROWS = 6
_PHASES = {"setup": "the setup", "data": "loading a batch", "optimizer": "optimizer.step()"}


def size_text(count: float, *, digits: int = 0) -> str:
    """A size in binary units, two decimals or as many digits as asked for.

    >>> size_text(3 << 30), size_text(512), size_text(1000 << 10, digits=3)
    ('3.00 GiB', '512 bytes', '1000 KiB')
    """
    for unit, size in (("GiB", _GIB), ("MiB", _MIB), ("KiB", _KIB)):
        if abs(count) >= size:
            return f"{_rounded(count / size, digits)} {unit}" if digits else f"{count / size:.2f} {unit}"
    return f"{_rounded(count, digits)} bytes" if digits else f"{count:.0f} bytes"


def _rounded(number: float, digits: int) -> str:
    """So many digits, and never an exponent."""
    return f"{float(f'{number:.{digits}g}'):.{max(digits, 6)}g}"


def plan_lines(plan: MemoryPlan) -> Iterator[str]:
    """Every line of the report, plain text."""
    if plan.lost is not None:
        yield from _lost_lines(plan)
        if not plan.peak_allocated:
            yield from _caveats(plan)
            return
        yield "the numbers below cover what ran before; more may be needed"
    yield from _unreached(plan)
    yield from _hoarded(plan)
    if plan.lost is not None or plan.unreached or plan.hoarded:
        yield ""
    verb = "measured" if plan.mode == "real" else "predicted"
    least = "" if plan.lost is None else "at least "
    yield (
        f"peak {verb}: {least}{size_text(plan.peak_allocated)} allocated, {size_text(plan.peak_reserved)} reserved, "
        f"{size_text(plan.peak_reserved + plan.context)} with the CUDA context ({plan.card})"
    )
    yield from _moment(plan)
    if plan.by_category:
        yield ""
        yield "made of"
        yield from (_row(amount, plan, name) for name, amount in plan.by_category.items())
    if plan.by_block:
        yield "by block, with all inside"
        yield from (_row(share.bytes, plan, share.module) for share in plan.by_block[:_ROWS])
    modules = [share for share in plan.by_module if share.module][:_ROWS]
    if modules:
        yield "by module"
        yield from (_row(share.bytes, plan, share.module) for share in modules)
    lines = [share for share in plan.by_line if share.where is not None][:_ROWS]
    if lines:
        yield "by line"
        yield from (_row(share.bytes, plan, _place(share.where)) for share in lines)
    if plan.largest:
        yield "largest tensors"
        for big in plan.largest:
            form = f"{big.dtype}{list(big.shape)} " if big.dtype else ""  # a card's history does not know it
            what = (
                f"{form}{big.category}"
                + (f", `{big.op}`" if big.op else "")
                + (f" in {big.module}" if big.module else "")
            )
            yield _row(big.bytes, plan, what)
    yield from _caveats(plan)


def _moment(plan: MemoryPlan) -> Iterator[str]:
    phase = _PHASES.get(plan.phase, plan.phase)
    module = f" in `{plan.module}`" if plan.module else ""
    place = f", {_place(plan.where)}" if plan.where is not None else ""
    yield f"when: in {phase} {_step_text(plan)}{module}{place}"
    if plan.phase_peaks:
        yield "peaks of the phases: " + ", ".join(f"{name} {size_text(b)}" for name, b in plan.phase_peaks.items())


def _step_text(plan: MemoryPlan) -> str:
    is_behind = plan.phase == "evaluation" and plan.peak_step > plan.steps > 0
    return f"after step {plan.steps}" if is_behind else f"of step {plan.peak_step}"


def _lost_lines(plan: MemoryPlan) -> Iterator[str]:
    """What could not be followed comes first: the numbers after it are partial."""
    assert plan.lost is not None
    place = f" at {_place(plan.lost.where)}" if plan.lost.where is not None else ""
    yield f"not followed to the end: the script stopped after {plan.steps} steps{place}: {plan.lost.error}"
    if plan.lost.everywhere and not plan.lost.in_pretence and not plan.assumed:
        yield "the same happens without a pretended card: `torchmedic run` tells why"
    elif plan.lost.everywhere:
        yield "followed on the CPU, it stops there too; whether it does without torchmedic is not known"


def _caveats(plan: MemoryPlan) -> Iterator[str]:
    if plan.mode == "fake-cpu" and plan.peak_allocated and not plan.names_card:
        yield "the script names no card: it was followed on the CPU as it is, and counted as if it were on one"
    elif plan.mode == "fake-cpu" and plan.peak_allocated:
        yield "the script was followed on the CPU: every tensor was counted as if it were on the card"
    if plan.assumed:
        yield "assumed"
        for one in plan.assumed:
            times = f" ({one.times} times in {max(plan.steps, 1)} steps)" if one.times > 1 else ""
            yield f"  {_place(one.where) + ': ' if one.where else ''}{one.what}{times}"
    yield from _held_back(plan)
    if plan.lost is None and plan.steps == 0:
        yield "no optimizer step was seen: the peak is that of what ran"


def _unreached(plan: MemoryPlan) -> Iterator[str]:
    if plan.unreached:
        yield f"the whole run may need more: {plan.steps} steps were followed, and these lines were not come to"
        yield from (f"  {_place(one.where)}" for one in plan.unreached[:_ROWS])


def _hoarded(plan: MemoryPlan) -> Iterator[str]:
    for one in plan.hoarded:
        place = f", mostly at {_place(one.where)}" if one.where is not None else ""
        yield f"grows by {size_text(one.bytes)} per {one.what}: the peak of the whole run is higher{place}"
        if one.left:
            yield f"  {one.left} more to come, which add {size_text(one.bytes * one.left)} to what was followed"


def _held_back(plan: MemoryPlan) -> Iterator[str]:
    """Files that are as they were before, though the script has changed them for itself."""
    if plan.not_written:
        yield f"held back, not written: {_some(plan.not_written)}"
    if plan.not_deleted:
        yield f"held back, not deleted: {_some(plan.not_deleted)}"


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _ROWS} more" if len(paths) > _ROWS else ""
    return ", ".join(f"`{path}`" for path in paths[:_ROWS]) + more


def _row(amount: int, plan: MemoryPlan, text: str) -> str:
    return f"  {size_text(amount):>11} {amount / max(plan.peak_allocated, 1):6.1%}  {text}"


def _place(where: Location | None) -> str:
    if where is None:
        return ""
    source = where.source.strip()
    return f"{where.file}:{where.line}" + (f"  {source}" if source else "")


def plan_json(plan: MemoryPlan) -> dict[str, object]:
    """The `memory` block of the JSON contract."""
    return {
        "mode": plan.mode,
        "card": plan.card,
        "steps": plan.steps,
        "peak_allocated": plan.peak_allocated,
        "peak_reserved": plan.peak_reserved,
        "context": plan.context,
        "phase": plan.phase,
        "peak_step": plan.peak_step,
        "peak_module": plan.module,
        "peak_at": _place_json(plan.where),
        "by_category": dict(plan.by_category),
        "by_module": [{"module": share.module, "bytes": share.bytes} for share in plan.by_module],
        "by_block": [{"module": share.module, "bytes": share.bytes} for share in plan.by_block],
        "by_line": [{**(_place_json(share.where) or {}), "bytes": share.bytes} for share in plan.by_line],
        "largest": [
            {
                "bytes": big.bytes,
                "shape": list(big.shape),
                "dtype": big.dtype,
                "category": big.category,
                "op": big.op,
                "module": big.module,
                "at": _place_json(big.where),
            }
            for big in plan.largest
        ],
        "phase_peaks": dict(plan.phase_peaks),
        "step_peaks": list(plan.step_peaks),
        "not_written": list(plan.not_written),
        "not_deleted": list(plan.not_deleted),
        "assumed": [{"what": a.what, "at": _place_json(a.where), "times": a.times} for a in plan.assumed],
        "unreached": [{"what": one.what, "at": _place_json(one.where)} for one in plan.unreached],
        "hoarded": [
            {"what": one.what, "bytes": one.bytes, "at": _place_json(one.where), "left": one.left}
            for one in plan.hoarded
        ],
        "stopped": {"error": plan.lost.error, "at": _place_json(plan.lost.where), "everywhere": plan.lost.everywhere}
        if plan.lost
        else None,
        "seconds": round(plan.seconds, 2),
    }


def _place_json(where: Location | None) -> dict[str, object] | None:
    return {"file": where.file, "line": where.line, "source": where.source.strip()} if where is not None else None
