"""Why a remedy gains nothing, as far as the run with it has shown."""

from __future__ import annotations

from collections.abc import Callable

from torchmedic.facts import MemoryPlan
from torchmedic.facts.memory_plan import BigTensor, Remedied
from torchmedic.render.memory import size_text

_MADE = ("activations", "temporaries")
# What autocast computes in float32.
_WIDE = ("_softmax", "_log_softmax", "native_layer_norm", "exp", "pow", "sum", "norm")
_PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "convolution")
_LITTLE = 0.01


def why_unknown(answer: MemoryPlan | None) -> str:
    """Why a run with a remedy has no peak to compare."""
    if answer is None:
        return "with it the script ended without an answer"
    if answer.lost is None:
        return "with it no optimizer step was come to"
    place = f" at {answer.lost.where}" if answer.lost.where is not None else ""
    return f"with it the script could not be followed: it stopped{place}: {answer.lost.error}"


def why_not(name: str, plan: MemoryPlan, answer: MemoryPlan) -> str:
    """The reason for a remedy without a gain; `plan` is that of the script without it."""
    return _REASONS.get(name, _why_no_size)(plan, answer)


def _why_no_autocast(plan: MemoryPlan, answer: MemoryPlan) -> str:
    done = _done(answer)
    if _is_narrow(plan):
        return "most of what is computed is held in 16 bits already"
    if not done.changed:
        if done.already:
            return "the script computes under autocast already"
        return "the script calls no module while gradients are recorded, and that is where it was to begin"
    if _largest(plan) not in _MADE:
        return f"the peak is made of {_largest(plan)}"
    wide = _wide(answer)
    if wide is not None and wide.op in _WIDE:
        return f"`{wide.op.strip('_')}` is computed in float32 all the same, and its inputs are kept in both types"
    if wide is not None and wide.op in _PRODUCTS:
        return f"`{wide.op}` is called beyond what was tried, which is from a module's first call to `backward`"
    if wide is not None and wide.op:
        return f"`{wide.op.strip('_')}` computes in the type of what it reads, float32"
    return "most of what is held at the peak is no result of a product or a convolution"


def _why_no_checkpoints(plan: MemoryPlan, answer: MemoryPlan) -> str:
    if not _done(answer).changed:
        return "no repeated blocks were found"
    if _largest(plan) != "activations":
        return f"the peak is made of {_largest(plan)}"
    return "what the repeated blocks keep is little of the peak"


def _why_no_kernel(plan: MemoryPlan, answer: MemoryPlan) -> str:
    if answer.matrices is None:
        if _done(answer).changed:
            return "the matrices of the attention are not what is held at the peak"
        return "no attention that keeps its matrices was found"
    place = f" of {answer.matrices.where}" if answer.matrices.where is not None else ""
    held = size_text(answer.matrices.bytes)
    return f"the matrices{place} hold {held} at the peak, and what a kernel keeps in their place as much"


def _why_no_fusing(plan: MemoryPlan, answer: MemoryPlan) -> str:
    if not _done(answer).changed:
        return "the optimizer is fused already" if _done(answer).already else "the optimizer has no such option"
    return _why_no_update(plan)


def _why_no_single(plan: MemoryPlan, answer: MemoryPlan) -> str:
    if not _done(answer).changed:
        if _done(answer).already:
            return "the optimizer holds no temporaries of all parameters at once"
        return "the optimizer has no such option"
    if plan.phase == "optimizer" and _largest(plan) == "temporaries":
        return "those of the largest parameter take as much"
    return _why_no_update(plan)


def _why_no_update(plan: MemoryPlan) -> str:
    if plan.phase != "optimizer":
        return f"the peak is in {plan.phase}, not in the optimizer step"
    return f"the peak is made of {_largest(plan)}"


def _why_no_dropping(plan: MemoryPlan, answer: MemoryPlan) -> str:
    if not _done(answer).changed:
        return "`zero_grad(set_to_none=False)` is called nowhere"
    share = plan.by_category.get("gradients", 0) / max(plan.peak_allocated, 1)
    return f"gradients are {share:.1%} of the peak" if share < _LITTLE else "gradients are needed at the peak"


def _why_no_parts(plan: MemoryPlan, answer: MemoryPlan) -> str:
    if not _done(answer).changed:
        return "no call of the model has the whole graph among its arguments"
    return "the nodes are not what is held at the peak"


def _why_no_size(plan: MemoryPlan, answer: MemoryPlan) -> str:
    if _largest(plan) in _MADE:
        return "what is held at the peak does not grow with it"
    return f"the peak is made of {_largest(plan)}"


def _why_no_pieces(plan: MemoryPlan, answer: MemoryPlan) -> str:
    return "little memory lies in fragments"


_REASONS: dict[str, Callable[[MemoryPlan, MemoryPlan], str]] = {
    "bf16": _why_no_autocast,
    "checkpointing": _why_no_checkpoints,
    "sdpa": _why_no_kernel,
    "fused": _why_no_fusing,
    "foreach-off": _why_no_single,
    "set-to-none": _why_no_dropping,
    "node-batches": _why_no_parts,
    "expandable-segments": _why_no_pieces,
}


def _done(answer: MemoryPlan) -> Remedied:
    return answer.remedied or Remedied(changed=0)


def _largest(plan: MemoryPlan) -> str:
    return max(plan.by_category, key=lambda key: plan.by_category[key], default="")


def _wide(answer: MemoryPlan) -> BigTensor | None:
    return next((big for big in answer.largest if big.category in _MADE and big.dtype == "float32"), None)


def _is_narrow(plan: MemoryPlan) -> bool:
    made = [big for big in plan.largest if big.category in _MADE and "float" in big.dtype]
    return 2 * sum(big.bytes for big in made if big.dtype.endswith("float16")) > sum(big.bytes for big in made) > 0
