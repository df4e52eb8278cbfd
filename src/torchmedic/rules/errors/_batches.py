"""Says in words how the samples of a batch differ, and how to make a batch of them."""

from __future__ import annotations

import re
from collections import Counter

from torchmedic.facts import Location, RefetchedSample, Run, SampleField


def refetched(run: Run) -> RefetchedSample | None:
    """The batch that could not be fetched."""
    return run.last(RefetchedSample)


def sample_expression(path: str) -> str:
    """A field as code: `sample[0]`, `sample['ids']`, `len(sample[1])`."""
    return path if path.startswith(("len(", "sample")) else f"sample{path}"


def usual_form(field: SampleField) -> str:
    return Counter(field.forms).most_common(1)[0][0]


def odd_positions(field: SampleField) -> list[int]:
    """Places in the batch whose form is not the usual one."""
    usual = usual_form(field)
    return [i for i, form in enumerate(field.forms) if form != usual]


def odd_samples(seen: RefetchedSample, field: SampleField, most: int = 4) -> str:
    """`sample 359 is int64[7], the other 7 are int64[12]`"""
    odd = odd_positions(field)
    told = [f"sample {index_at(seen, i)} is {field.forms[i]}" for i in odd[:most]]
    more = f", {len(odd) - most} more differ" if len(odd) > most else ""
    rest = len(field.forms) - len(odd)
    return f"{', '.join(told)}{more}, the other {rest} {'is' if rest == 1 else 'are'} {usual_form(field)}"


def index_at(seen: RefetchedSample, position: int) -> int:
    """The dataset index of a place in the batch."""
    return seen.indices[position] if position < len(seen.indices) else position


def first_odd_index(seen: RefetchedSample, field: SampleField) -> int | None:
    odd = odd_positions(field)
    return index_at(seen, odd[0]) if odd else None


def loader_line(seen: RefetchedSample) -> Location | None:
    return seen.loader_built


def collate_code(path: str, make: str, name: str) -> str:
    """A `collate_fn` that treats one field by itself and leaves the others to `default_collate`.

    `make` is code over `values`, the list of that field's values.
    """
    position = re.fullmatch(r"\[(\d+)\]", path)
    key = re.fullmatch(r"\[('[^']*')\]", path)
    body: tuple[str, ...]
    if position:
        k = position.group(1)
        body = (
            "    fields = list(zip(*samples))",
            f"    values = list(fields[{k}])",
            f"    batch = [None if i == {k} else default_collate(f) for i, f in enumerate(fields)]",
            f"    batch[{k}] = {make}",
            "    return batch",
        )
    elif key:
        k = key.group(1)
        body = (
            f"    values = [s.pop({k}) for s in samples]",
            f"    return {{**default_collate(samples), {k}: {make}}}",
        )
    elif path.count("[") > 1:
        outer, _, last = path.rpartition("[")
        body = (
            f"    values = [s{outer}.pop({last.rstrip(']')}) for s in samples]",
            "    batch = default_collate(samples)",
            f"    batch{path} = {make}",
            "    return batch",
        )
    else:
        body = (f"    values = [s{path if path.startswith(('[', '.')) else ''} for s in samples]", f"    return {make}")
    lines = (f"def {name}(samples):", *body)
    return "\n".join(f"+ {line}" for line in lines)


def as_gigabytes(size: int) -> str:
    """
    >>> as_gigabytes(3 * 2**30)
    '3.0 GB'
    """
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{size / 2**20:.0f} MB"
