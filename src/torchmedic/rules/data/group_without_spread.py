"""Groups of one value only: a z-score by group divides by zero there."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Group, Run, SpreadByGroup
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, Place, listed, many, places

_FEW = 0.1


class GroupWithoutSpread(DataRule):
    """Names the groups, and what `(x - mean) / std` and an epsilon would make of them."""

    code = "DAT102"
    name = "group-without-spread"
    severity = "error"
    symptoms = (Symptom.LOSS_NAN, Symptom.WEIGHTS_NAN)
    tell_apart = "all rows of some groups hold one value, or values that differ by rounding only"
    needs = (SpreadByGroup,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, SpreadByGroup):
            flat = [s for s in place.seen if (s.constant or s.near) and not s.is_attribute]
            if not flat:
                yield from self._single(place)
                yield from self._but_one(place)
                continue
            seen = max(flat, key=lambda s: s.rows)
            groups = (*seen.constant, *seen.near)
            yield self.report(
                place,
                (
                    f"{_counted(seen)} of {seen.groups:,} groups of `{seen.group}` have no spread in `{seen.column}`",
                    f"{_counted(seen)} of {seen.groups:,} groups have no spread in `{seen.column}`",
                ),
                severity="warning" if seen.guessed else "error",
                evidence=[*_evidence(seen), *(_other(s) for s in flat if s is not seen)],
                help=(
                    "keep the divisor off zero: `std = std.where(std > 1e-6 * mean.abs(), 1.0)`, which makes them 0",
                    f"or leave these groups out: `{_left_out(seen.group)}`",
                ),
                field=seen.column,
                group={"column": seen.group, "values": [group.key for group in groups]},
                rows=seen.rows,
            )

    def _single(self, place: Place[SpreadByGroup]) -> Iterator[Diagnosis]:
        """Groups of one row, where the user said by what rows are grouped: one value has no spread at all."""
        alone = [s for s in place.seen if s.single and s.given and not s.is_attribute]
        if not alone:
            return
        seen = max(alone, key=lambda s: s.single)
        one = seen.single == 1
        yield self.report(
            place,
            (
                f"{seen.single:,} of {seen.groups:,} groups of `{seen.group}` {'has' if one else 'have'} a single row",
                f"{many(seen.single, 'group')} of a single row",
            ),
            severity="warning",
            evidence=["`std()` of one value is NaN in pandas and in torch, and so is `(x - mean) / std` of that row"],
            help=(
                "set the divisor to 1 there: `std = std.fillna(1.0)`",
                f"or leave these groups out: `df[df.groupby({_names(seen.group)})[column].transform('size') > 1]`",
            ),
            field=seen.column,
            rows=seen.single,
        )

    def _but_one(self, place: Place[SpreadByGroup]) -> Iterator[Diagnosis]:
        """Groups that one value saves from a spread of 0; where many are like that, things happen once by nature."""
        few = [s for s in place.seen if 0 < len(s.but_one) <= max(1, _FEW * s.groups)]
        if not few:
            return
        seen = max(few, key=lambda s: sum(group.rows for group in s.but_one))
        first = seen.but_one[0]
        yield self.report(
            place,
            (
                f"`{seen.column}` of `{first.key}` is constant but for 1 of {many(first.rows, 'row')}",
                f"a group of `{seen.group}` is constant but for 1 of {many(first.rows, 'row')}",
            ),
            severity="warning",
            evidence=[
                f"all others are {first.value:.6g}, one is {first.spread:.6g} away, and makes the spread",
                *([f"the same in {many(len(seen.but_one) - 1, 'other group')}"] if len(seen.but_one) > 1 else []),
                "without it, as in a fold or a batch that lacks it, `(x - mean) / std` is 0 / 0, NaN",
            ],
            help=(
                "find out what that value means; keep the divisor off zero: `std.where(std > 1e-6 * mean.abs(), 1.0)`",
                f"or leave the group out: `{_left_out(seen.group)}`",
            ),
            field=seen.column,
            group={"column": seen.group, "values": [group.key for group in seen.but_one]},
            rows=first.rows,
        )


def _names(key: str) -> str:
    names = ", ".join(f"'{name}'" for name in key.split(","))
    return f"[{names}]" if "," in key else names


def _left_out(key: str) -> str:
    if "," not in key:
        return f"df[~df['{key}'].isin(flat)]"
    return f"df.groupby({_names(key)}).filter(lambda g: g[column].nunique() > 1)"


def _counted(seen: SpreadByGroup) -> str:
    return f"{len(seen.constant) + len(seen.near):,}"


def _evidence(seen: SpreadByGroup) -> Iterator[str]:
    if seen.constant:
        yield f"constant: {_shown(seen.constant)}; `(x - mean) / std` is 0 / 0 there, NaN"
    if seen.near:
        yield (
            f"all but constant: {_shown(seen.near)}; the spread is rounding, which division by `std` blows up to "
            "values of about 1, and float32 to whatever its own rounding is"
        )
    of_file = f" of `{seen.source}`" if seen.asked is not None and "." in seen.source else ""
    yield f"{many(seen.rows, 'row')}{of_file} are in these groups"
    if seen.constant:
        yield (
            "`/ (std + 1e-8)` gives 0 for a constant group in float64, but in float32 the mean of a constant is off "
            "by rounding, and the same line gives values up to 1"
        )
    if seen.single:
        yield f"{many(seen.single, 'more group')} of a single row: `std()` of one value is NaN"
    if seen.guessed:
        yield f"that rows are normalised by `{seen.group}` was guessed from its name; `--group-by` says otherwise"


def _shown(groups: tuple[Group, ...]) -> str:
    first = ", ".join(f"`{group.key}` ({group.value:.6g}, {many(group.rows, 'row')})" for group in groups[:4])
    return first + (f" and {len(groups) - 4:,} more" if len(groups) > 4 else "")


def _other(seen: SpreadByGroup) -> str:
    names = [group.key for group in (*seen.constant, *seen.near)]
    return f"the same in `{seen.column}` for {listed(names)} of `{seen.group}`"
