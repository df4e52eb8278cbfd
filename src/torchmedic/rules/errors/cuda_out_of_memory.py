"""The GPU has no room for an allocation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, MemoryAtCrash, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, layer_in, layer_name, said, tensors, user_line

_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "bytes": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}
_AMOUNT = r"([\d.]+) (KiB|MiB|GiB|TiB|bytes|KB|MB|GB)"
_BYTES = {"float64": 8, "int64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2}
_FRAGMENTED = 0.25


class CudaOutOfMemory(Rule):
    """The message's numbers, read: a true need, fragments, or another process."""

    code = "ERR021"
    name = "cuda-out-of-memory"
    symptoms = (Symptom.CRASH, Symptom.MEMORY_GROWS)
    tell_apart = "the exception is OutOfMemoryError or the message says `out of memory`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or said(crash, r"(?:CUDA|HIP|XPU|MPS backend)[^\n]*out of memory") is None:
            return
        text = crash.message
        tried = _amount(text, rf"Tried to allocate {_AMOUNT}")
        total = _amount(text, rf"total capacity of {_AMOUNT}", rf"{_AMOUNT} total capacity")
        free = _amount(text, rf"of which {_AMOUNT} is free", rf"{_AMOUNT} free")
        ours = _amount(text, rf"{_AMOUNT} is allocated by PyTorch", rf"{_AMOUNT} already allocated")
        idle = _amount(text, rf"{_AMOUNT} is reserved by PyTorch but unallocated")
        layer = layer_in(crash)
        fragments = tried is not None and idle is not None and idle >= tried and idle > _FRAGMENTED * (total or idle)
        others = total is not None and ours is not None and free is not None and total - free - ours - (idle or 0)
        crowded = bool(others and total and others > 0.3 * total)
        yield self.diagnose(
            headline="the GPU ran out of memory"
            + (
                f": {_said(tried)} more were wanted, {_said(free)} of {_said(total)} were free"
                if tried and total
                else ""
            ),
            confidence="proven",
            where=user_line(crash),
            culprit=Culprit(module=layer_name(layer) if layer else None, phase="forward", op="allocation"),
            evidence=(*_evidence(crash, ours, idle, others if crowded else None, fragments), *_held(run)),
            remedies=(*_cures(fragments, crowded), *_ask(run, total)),
        )


def _amount(text: str, *patterns: str) -> int | None:
    for pattern in patterns:
        if match := re.search(pattern, text):
            return int(float(match[1]) * _UNITS[match[2]])
    return None


def _said(amount: int | None) -> str:
    if amount is None:
        return "an unknown amount"
    unit = "GiB" if amount >= 2**30 else "MiB" if amount >= 2**20 else "KiB"
    return f"{amount / _UNITS[unit]:.3g} {unit}"


def _evidence(
    crash: Crash, ours: int | None, idle: int | None, others: int | bool | None, fragments: bool
) -> Iterator[str]:
    if ours is not None:
        spare = f", {_said(idle)} reserved but unused" if idle is not None else ""
        yield f"{_said(ours)} are held by tensors of this script{spare}"
    if fragments:
        yield "the unused part would have been enough, but lies in pieces: memory is fragmented"
    if others:
        yield f"about {_said(int(others))} belong to other processes on this GPU"
    if largest := _largest(crash):
        yield "largest tensors in sight: " + ", ".join(f"`{n}` {t} ({_said(_bytes(t))})" for n, t in largest)


def _held(run: Run) -> Iterator[str]:
    """What the memory was made of, where the card's tensors were counted."""
    seen = run.last(MemoryAtCrash)
    if seen is None or not seen.by_category:
        return
    yield "on the card were " + ", ".join(f"{_said(b)} of {name}" for name, b in seen.by_category.items())
    if seen.largest:
        yield "the largest: " + ", ".join(f"{big.dtype}{list(big.shape)} ({_said(big.bytes)})" for big in seen.largest)


def _ask(run: Run, total: int | None) -> Iterator[Remedy]:
    if total is not None and run.info.argv:
        size = f"{total / 2**30:.1f}GiB"
        command = " ".join(run.info.argv)
        title = f"see what would fit: `torchmedic memory --card {size} --remedies {command}`"
        yield Remedy(title=title, detail="it needs no GPU")


def _bytes(t: TensorSummary) -> int:
    return t.numel * _BYTES.get(t.dtype, 1)


def _largest(crash: Crash) -> list[tuple[str, TensorSummary]]:
    found = {n: t for f in crash.frames if f.is_user for n, t in tensors(f) if t.device not in ("cpu", "numpy")}
    return sorted(found.items(), key=lambda item: -_bytes(item[1]))[:4]


def _cures(fragments: bool, crowded: bool) -> Iterator[Remedy]:
    if fragments:
        yield Remedy(title="set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` to keep memory in one piece")
    if crowded:
        yield Remedy(title="end the other processes on this GPU, or choose another one (`nvidia-smi` lists them)")
    yield Remedy(title="halve the batch size, and accumulate gradients over two batches to keep the effective size")
    yield Remedy(
        title="or compute in bfloat16 with `torch.autocast`, or use `torch.utils.checkpoint` on the largest blocks"
    )
    yield Remedy(title="keep numbers instead of tensors across steps: `losses.append(loss.item())`")
