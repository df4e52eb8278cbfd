"""What the four numbers of `mat1 and mat2 shapes cannot be multiplied` tell, where nothing else is known."""

from __future__ import annotations

from dataclasses import dataclass

from torchmedic.findings import Confidence, Remedy

# A layer of so many times the width is mostly one for two directions, a few heads or parts put side by side.
_FEW = 4


@dataclass(frozen=True)
class ToldSizes:
    """`mat1` is the input with all its leading dimensions in one, `mat2` the weight of the layer, turned."""

    rows: int
    got: int
    wanted: int
    out: int

    @property
    def batch(self) -> int:
        """How many samples of `wanted` values the input would be if flattened; 0 if it cannot be that.

        >>> ToldSizes(1792, 28, 784, 256).batch, ToldSizes(64, 44944, 400, 120).batch
        (64, 0)
        """
        parts, rest = divmod(self.wanted, max(self.got, 1))
        return self.rows // parts if rest == 0 and parts > 1 and self.rows % parts == 0 else 0

    @property
    def of_squares(self) -> bool:
        """Square pictures or feature maps, whose last dimension is one of two alike, fit."""
        return bool(self.batch) and self.wanted % self.got**2 == 0

    @property
    def confidence(self) -> Confidence:
        """The sizes are given; what should have been otherwise is read into them."""
        return (
            "proven" if not self.batch else "possible" if self.looks_unflattened and not self.of_squares else "likely"
        )

    @property
    def looks_unflattened(self) -> bool:
        return self.of_squares or (bool(self.batch) and self.wanted > _FEW * self.got)

    @property
    def evidence(self) -> tuple[str, ...]:
        if not self.batch:
            return ()
        return (
            f"{self.rows} x {self.got} = {self.batch} x {self.wanted}: {self.batch} samples of {self.wanted} values "
            "fit, if they come unflattened; the message does not tell the shape of the input",
        )

    def cures(self, layer: str) -> tuple[Remedy, ...]:
        """The likelier first."""
        flatten = Remedy(
            title=f"flatten before {layer}: `x = x.flatten(1)`",
            detail=f"if the {self.wanted} values of one sample come in several dimensions",
        )
        resize = Remedy(
            title=f"build {layer} with `in_features={self.got}`: `Linear({self.got}, {self.out})`",
            detail=f"or change what comes before it, so that {self.wanted} features are left: "
            "the size of the pictures, the layers, where it is flattened",
        )
        return self._in_order(flatten, resize)

    @property
    def cures_if_linear(self) -> tuple[Remedy, ...]:
        """The same for a product of which nothing else is known, not even whether it is that of a layer."""
        layer = f"`Linear({self.wanted}, {self.out})`"
        flatten = Remedy(title=f"if it is {layer}: flatten its input, `x = x.flatten(1)`")
        resize = Remedy(title=f"if it is {layer}: build it with `in_features={self.got}`, or bring it {self.wanted}")
        return self._in_order(flatten, resize)

    def _in_order(self, flatten: Remedy, resize: Remedy) -> tuple[Remedy, ...]:
        if not self.batch:
            return (resize,)
        return (flatten, resize) if self.looks_unflattened else (resize, flatten)
