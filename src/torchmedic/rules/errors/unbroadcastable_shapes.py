"""Two tensors whose shapes do not meet in an elementwise operation."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._einsum import Einsum, einsum_in
from torchmedic.rules.errors._lengths import ShortTable, short_table
from torchmedic.rules.errors._mixing import reshaped_batch
from torchmedic.rules.errors._reading import (
    also,
    crash_in,
    described,
    layer_in,
    layer_name,
    said,
    shape,
    tensors,
    tensors_on_line,
    user_line,
)
from torchmedic.rules.errors._syntax import Code

_MESSAGE = r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)"
_EXPAND = (
    r"The expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\) at non-singleton dimension (\d+)"
)

Named = tuple[str, TensorSummary]


class UnbroadcastableShapes(Rule):
    """An elementwise operation on shapes that cannot be stretched to each other."""

    code = "ERR004"
    name = "unbroadcastable-shapes"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message compares the size of tensor a with that of tensor b"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        summed = einsum_in(run, crash) if crash is not None else None
        if line is not None and summed is not None:
            yield self._einsum(line, summed)
            return
        match = said(crash, _MESSAGE, _EXPAND)
        if crash is None or match is None or line is None or reshaped_batch(run, crash):
            return
        a, b, axis = int(match[1]), int(match[2]), int(match[3])
        table = short_table(run, crash, a, b)
        if table is not None:
            yield self._too_long(line, table)
            return
        mentioned = tensors_on_line(run, crash.user_frame)
        pair = _pair(mentioned, a, b, axis) or _pair(list(tensors(crash.frames[-1])), a, b, axis)
        layer = layer_in(crash)
        names = " and ".join(f"`{name}` {shape(t.shape)}" for name, t in pair)
        code = Code.of(run)
        made = [(code.last_assignment(name.partition("[")[0], line), name) for name, _ in pair]
        yield self.diagnose(
            headline=f"{names or 'two tensors'} differ in dimension {axis} ({a}, {b})",
            confidence="proven",
            where=line,
            also=also(
                *(
                    (m.location, f"`{name}` comes from here")
                    for m, name in made
                    if m is not None and m.how != "argument"
                ),
                but=line,
            ),
            culprit=Culprit(
                tensor=pair[0][0] if pair else None, phase="forward", module=layer_name(layer) if layer else None
            ),
            evidence=(described(mentioned or list(tensors(crash.user_frame))),) if crash.user_frame else (),
            remedies=_cures(pair, a, b, axis),
        )

    def _einsum(self, line: Location, seen: Einsum) -> Diagnosis:
        """One letter of the equation stands for two sizes."""
        turned = seen.turned()
        where = turned.made if turned is not None and turned.made is not None else line
        said_sizes = ", ".join(f"{size} in `{name}`" for name, size in seen.sizes)
        return self.diagnose(
            headline=f"`{seen.letter}` of `{seen.equation}` has two sizes: {said_sizes}",
            confidence="proven" if where is line else "likely",
            where=where,
            label=f"dimensions {turned.first} and {turned.second} are in another order than the letters"
            if turned is not None and where is not line
            else "",
            also=also((line, "multiplied here"), but=where),
            culprit=Culprit(tensor=seen.sizes[-1][0], phase="forward", op="einsum"),
            evidence=tuple(f"`{name}` is {shape(sizes)} for `{letters}`" for name, letters, sizes in seen.operands),
            remedies=(Remedy(title=f"turn it: `{turned.call}` is {shape(turned.sizes)}, and fits"),)
            if turned is not None
            else (Remedy(title=f"give `{seen.letter}` one size in all operands, or another letter in one of them"),),
        )

    def _too_long(self, line: Location, table: ShortTable) -> Diagnosis:
        """A sequence that goes on where the table of positions has ended."""
        where = table.where or line
        cures = (
            Remedy(title=f"cut the texts to what the model has: `truncation=True, max_length={table.rows}`"),
            Remedy(title=f"or build the model with `max_position_embeddings={table.asked}` or more, and train it so"),
        )
        if not table.is_setting:
            cures = (
                Remedy(title=f"make the table as long as the longest input, {table.asked} or more"),
                Remedy(title=f"or cut the input to {table.rows}"),
            )
        return self.diagnose(
            headline=f"the input has {table.asked} positions, and the model has {table.rows} (`{table.name}`)"
            if table.is_setting
            else f"`{table.name}` has {table.rows} positions, and the input has {table.asked}",
            confidence="proven",
            where=where,
            label=table.why if where != line else "",
            also=also((line, "the input is too long here"), but=where),
            culprit=Culprit(tensor=table.name, phase="forward"),
            evidence=() if table.is_setting else ("a slice past the end gives what there is, and no error",),
            remedies=cures,
        )


def _pair(found: list[Named], a: int, b: int, axis: int) -> tuple[Named, ...]:
    """The two tensors of the message: sizes a and b on the same dimension, counted from the end."""
    for i, first in enumerate(found):
        for second in found[i + 1 :]:
            rank = max(len(first[1].shape), len(second[1].shape))
            sizes = {_size(t, axis - rank) for _, t in (first, second)}
            if sizes == {a, b}:
                return (first, second) if _size(first[1], axis - rank) == a else (second, first)
    return ()


def _size(tensor: TensorSummary, from_end: int) -> int | None:
    return tensor.shape[from_end] if len(tensor.shape) >= -from_end else None


def _cures(pair: tuple[Named, ...], a: int, b: int, axis: int) -> tuple[Remedy, ...]:
    if len(pair) == 2:
        (first, x), (second, y) = pair
        if sorted(x.shape) == sorted(y.shape) and len(x.shape) == 2:
            return (Remedy(title=f"transpose one of them: `{second}.T`"),)
        short, long, name = (x, y, first) if len(x.shape) < len(y.shape) else (y, x, second)
        if len(short.shape) < len(long.shape) and short.shape == long.shape[: len(short.shape)]:
            extra = len(long.shape) - len(short.shape)
            return (
                Remedy(title=f"give `{name}` the missing dimension: `{name}[{', '.join(['...'] + ['None'] * extra)}]`"),
            )
    names = " and ".join(f"`{name}`" for name, _ in pair) or "both tensors"
    return (Remedy(title=f"make dimension {axis} of {names} equal ({a} or {b}), or 1 where it should be stretched"),)
