"""A product that is made for vectors or matrices of one kind, and gets tensors of other dimensions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, described, said, tensors_on_line, user_line


class _Product(NamedTuple):
    """What torch says, the function that says it, what it takes, and what does the like for other dimensions."""

    message: str
    function: str
    taken: str
    cure: str


_PRODUCTS = (
    _Product(
        r"1D tensors expected, but got (\d)D and (\d)D tensors",
        "dot",
        "two vectors",
        "use `a @ b` for a product of matrices, `(a * b).sum(-1)` for one of rows, `(a * b).sum()` for one number",
    ),
    _Product(
        r"(?:self|mat1|mat2|input) must be a matrix",
        "mm",
        "two matrices",
        "use `@`, which takes vectors and batches as well",
    ),
    _Product(
        r"batch[12] must be a 3D tensor",
        "bmm",
        "two batches of matrices",
        "use `@`, which takes a single matrix as well, or `unsqueeze` what has no batch",
    ),
    _Product(
        r"vector \+ matrix @ vector expected, got \d, (\d), (\d)",
        "mv",
        "a matrix and a vector",
        "use `@`, which takes matrices and batches as well",
    ),
    _Product(
        r"t\(\) expects a tensor with <= 2 dimensions, but self is (\d)D",
        "t",
        "a matrix",
        "use `.transpose(-2, -1)` or `.mT`, which turn the last two dimensions of any tensor",
    ),
)


class WrongDimensionsInProduct(Rule):
    """`dot`, `mm`, `bmm`, `mv` and `t` take one number of dimensions each, `@` takes all of them."""

    code = "ERR284"
    name = "wrong-dimensions-in-product"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`dot`, `mm`, `bmm`, `mv` or `t` says how many dimensions it expected"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = _told(crash) if crash is not None else None
        if crash is None or found is None:
            return
        product, match = found
        given = " and ".join(f"{dimensions}D" for dimensions in match.groups())
        operands = tensors_on_line(run, crash.user_frame)
        yield self.diagnose(
            headline=f"`{product.function}` takes {product.taken}, but gets {given}"
            if given
            else f"`{product.function}` takes {product.taken}, but gets something else",
            confidence="proven",
            where=user_line(crash),
            mark=f".{product.function}(",
            culprit=Culprit(op=product.function, phase="forward", tensor=operands[0][0] if operands else None),
            evidence=(described(operands),) if operands else (),
            remedies=(Remedy(title=product.cure),),
        )


def _told(crash: Crash) -> tuple[_Product, re.Match[str]] | None:
    return next(((p, match) for p in _PRODUCTS if (match := said(crash, p.message)) is not None), None)
