"""What a sick run leaves in its folder: the last good weights and state, and the first bad operation on its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchmedic.probes.graph.trace import Op, Trace

_REPRODUCTION = '''"""The first bad operation of step, on its own: {op}."""

import torch
from safetensors.torch import load_file

saved = load_file("operands.safetensors")
operands = [saved[f"operand_{{i}}"] for i in range(len(saved))]
for i, operand in enumerate(operands):
    finite = bool(torch.isfinite(operand).all()) if operand.is_floating_point() else True
    print(f"operand {{i}}: {{tuple(operand.shape)}} {{operand.dtype}} all finite: {{finite}}")
result = torch.ops.{op}({arguments})
for tensor in result if isinstance(result, (tuple, list)) else (result,):
    print(f"result: {{tuple(tensor.shape)}} all finite: {{bool(torch.isfinite(tensor).all())}}")
'''


def save_state(folder: Path, step: int, roots: list[nn.Module], optimizers: list[Any]) -> str:
    """Weights and buffers (safetensors) and optimizer state as they were before the sick update."""
    tensors: dict[str, torch.Tensor] = {}
    for number, root in enumerate(roots):
        prefix = "" if len(roots) == 1 else f"{number}.{type(root).__name__}."
        for name, tensor in root.state_dict().items():
            # A skeleton on the meta device, as for `torch.func`, has nothing to keep.
            kept = isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided
            if kept and not (tensor.is_meta or is_lazy(tensor)):
                tensors[prefix + name] = tensor.detach().cpu().clone().contiguous()
    if not tensors:
        return ""
    from safetensors.torch import save_file  # dear to import, and hardly ever needed

    path = folder / f"weights-before-step-{step}.safetensors"
    save_file(tensors, path)
    torch.save([o.state_dict() for o in optimizers], folder / f"optimizers-before-step-{step}.pt")
    return path.name


def save_reproduction(folder: Path, trace: Trace, op: Op) -> None:
    """`repro.py` with the saved operands, where the operation can be called with tensors and numbers alone."""
    read, _ = trace.kept.get(op.index, ([], []))
    if not read:
        return
    from safetensors.torch import save_file

    save_file({f"operand_{i}": t.contiguous().clone() for i, t in enumerate(read)}, folder / "operands.safetensors")
    arguments = ", ".join(["*operands", *(repr(s) for s in op.scalars)])
    (folder / "repro.py").write_text(_REPRODUCTION.format(op=op.name, arguments=arguments))
