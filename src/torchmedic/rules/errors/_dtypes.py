"""What the messages about element types have in common."""

from __future__ import annotations

import re

from torchmedic.facts import Crash, Frame, TensorSummary
from torchmedic.rules.errors._reading import said, tensors

_KINDS = {
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "bfloat16": "bfloat16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "byte": "uint8",
    "char": "int8",
    "bool": "bool",
}
_TYPE = r"\((?:torch\.)?(?:cuda\.)?(\w+?)(?:Tensor)?\)"
_PAIRS = (
    r"mat1 and mat2 must have the same dtype, but got (\w+) and (\w+)",
    r"to have the same dtype, but got:? (?:c10::)?(\w+) (?:!=|and) (?:c10::)?(\w+)",
    rf"Input type {_TYPE} and (?:weight|bias) type {_TYPE}",
    r"expected scalar type (\w+) but found (\w+)",
    r"Found dtype (\w+) but expected (\w+)",
    r"input must have the type torch\.(\w+), got type torch\.(\w+)",
    r"input dtype \(torch\.(\w+)\) does not match weight dtype \(torch\.(\w+)\)",
    r"self and mat2 to have the same dtype, but got (\w+) and (\w+)",
)


def kinds_said(crash: Crash | None) -> tuple[str, str] | None:
    """The two element types that a message sets against each other, in the names of torch dtypes."""
    match = said(crash, *_PAIRS)
    if match is None:
        return None
    return plain_kind(match[1]), plain_kind(match[2])


def plain_kind(word: str) -> str:
    """A type as messages call it, by its name in torch: `int32` for `Int`."""
    word = re.sub(r"^torch\.", "", word).lower()
    return _KINDS.get(word, word)


def first_holding(crash: Crash, dtype: str) -> tuple[Frame, str, TensorSummary] | None:
    """The outermost frame of the user's code with a tensor of this type, and its name there."""
    for frame in crash.frames:
        if not frame.is_user:
            continue
        words = set(re.findall(r"\w+", frame.location.source))
        held = [(n, t) for n, t in tensors(frame) if t.dtype == dtype and t.device != "numpy"]
        named = [(n, t) for n, t in held if re.split(r"[.\[]", n)[0] in words]
        if named or held:
            return (frame, *(named or held)[0])
    return None
