"""A tiny training whose memory is known: if the pretence gets it wrong, it is not to be trusted on this torch."""

from __future__ import annotations

import torch

from torchmedic.checkups.memory.cards import DEFAULT

_WIDTH = 256
_FLOAT = 4


class SelfTestError(RuntimeError):
    """The pretended card does not behave like one."""


def check_pretence() -> None:
    """Train two steps of a known model on a pretended card of its own; raises SelfTestError when the books are off."""
    from torchmedic.checkups.memory.pretending import Pretence

    state = torch.get_rng_state()
    pretence = Pretence(DEFAULT, "cuda")
    try:
        pretence.begin()
        try:
            with torch.enable_grad(), torch.autocast("cuda", enabled=False):
                trained = _train()
            booked = pretence.ledger.allocator.allocated
            on_card = all(p.grad is not None and p.grad.device.type == "cuda" for p in trained[0].parameters())
        finally:
            pretence.end()
    except Exception as error:
        raise SelfTestError(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}") from error
    finally:
        torch.set_rng_state(state)
    weights = _WIDTH * _WIDTH * _FLOAT
    bias = _WIDTH * _FLOAT
    # Parameters, gradients and two moments of Adam, the workspaces of both threads, and the loss.
    expected = 4 * (weights + bias) + 2 * DEFAULT.cublas_workspace + (1 << 20) + 512
    if booked != expected:
        raise SelfTestError(f"a model that holds {expected} bytes was booked with {booked}")
    if not on_card:
        raise SelfTestError("the gradients are not on the card")


def _train() -> tuple[torch.nn.Module, torch.optim.Optimizer, torch.Tensor]:
    layer = torch.nn.Linear(_WIDTH, _WIDTH).to("cuda")
    optimizer = torch.optim.Adam(layer.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        heads = layer(torch.randn(32, _WIDTH, device="cuda")).view(2, 16, 4, 64).transpose(1, 2)
        mixed = torch.nn.functional.scaled_dot_product_attention(heads, heads, heads)
        loss = torch.nn.functional.dropout(mixed, 0.5).pow(2).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return layer, optimizer, loss.detach()
