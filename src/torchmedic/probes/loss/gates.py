"""How much of the gates of a recurrent layer is pressed to an end of its range by what the layer is given."""

from __future__ import annotations

from typing import Any

import torch

_SIGMOID_END, _TANH_END = 4.6, 2.65  # where sigmoid and tanh are within 1 % of their ends
_MOST_ROWS = 512
# The gates in the order of the rows of `weight_ih`.
_GATES = {
    "lstm": (_SIGMOID_END, _SIGMOID_END, _TANH_END, _SIGMOID_END),
    "gru": (_SIGMOID_END, _SIGMOID_END, _TANH_END),
    "rnn_tanh": (_TANH_END,),
}
RECURRENT = frozenset((*_GATES, *(f"{name}_cell" for name in _GATES)))


def pressed_share(name: str, args: tuple[Any, ...]) -> float | None:
    """The share of gates at an end, told by the input alone: the state adds little, its values are within -1 and 1."""
    ends = _GATES[name.removesuffix("_cell")]
    weights = _weights(name, args)
    given = args[0] if args else None
    if not isinstance(given, torch.Tensor) or not weights or given.shape[-1] != weights[0].shape[-1]:
        return None
    rows = given.detach().reshape(-1, given.shape[-1])
    rows = rows[:: max(1, len(rows) // _MOST_ROWS)]
    weight, bias = weights[0].detach(), next((w.detach() for w in weights[1:] if w.ndim == 1), None)
    put = torch.nn.functional.linear(rows.to(weight.dtype), weight, bias)
    pressed = [(part.abs() > end).float().mean() for part, end in zip(put.chunk(len(ends), -1), ends, strict=True)]
    return float(torch.stack(pressed).mean())


def _weights(name: str, args: tuple[Any, ...]) -> list[torch.Tensor]:
    """Those of the first layer, that of the input first."""
    if name.endswith("_cell"):
        return [given for given in args[2:] if isinstance(given, torch.Tensor)]
    lists = [given for given in args[1:] if isinstance(given, (list, tuple)) and len(given) > 1]
    flat = [each for each in lists if all(isinstance(w, torch.Tensor) for w in each) and each[0].ndim == 2]
    return list(flat[-1]) if flat else []
