"""Sentences about values that were bad before torch saw them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from torchmedic.facts import Birth, FileRead, Location, NormalisedBy, Source
from torchmedic.findings import Also, Remedy
from torchmedic.rules.numerics._case import Case

_DATA_FILE = re.compile(r"""["']([^"']+\.(?:csv|tsv|parquet|jsonl|npy|npz|pt)(?:\.gz|\.zst)?)["']""")
_ENOUGH_ROWS = 32
_LOSSES = ("loss", "cross_entropy", "nll", "kl_div")


def column_list(birth: Birth, most: int = 3) -> str:
    """`floor_area`, `parking` and 2 more; nothing where columns have no names."""
    names = [c for c in birth.columns if not c.isdigit()]
    listed = ", ".join(f"`{c}`" for c in names[:most])
    return listed + (f" and {len(names) - most} more" if len(names) > most else "")


def zero_labels(birth: Birth) -> str:
    """The labels at which a divisor was 0: `valve_setpoint`."""
    chosen = next((z for z in birth.zero_at if z.partition(":")[0] in birth.expression.rpartition("/")[2]), "")
    chosen = chosen or (birth.zero_at[0] if birth.zero_at else "")
    return ", ".join(f"`{label.strip()}`" for label in chosen.partition(":")[2].split(",")[:4] if label.strip())


def group_labels(birth: Birth) -> str:
    """`ITEMID` 51548, 51550: the groups of the bad rows, where the line looked something up by group."""
    if not birth.groups:
        return ""
    labels = [group.partition(": ")[2] for group in birth.groups[:4]]
    return f"`{birth.groups[0].partition(': ')[0]}` {', '.join(labels)}"


def variable_text(birth: Birth) -> str:
    """The variable in backticks; words such as "the returned value" stay words."""
    return birth.variable if " " in birth.variable else f"`{birth.variable}`"


def divisor_of(birth: Birth) -> str:
    """What stands behind the last division sign, without brackets that were opened before it.

    >>> divisor_of(Birth(where=Location(file="a.py", line=1), variable="", holder="", expression="(x / y.max())"))
    'y.max()'
    """
    divisor = birth.expression.rpartition("/")[2].strip()
    while divisor.count(")") > divisor.count("("):
        divisor = divisor[: divisor.rindex(")")].rstrip()
    return divisor


def counted(birth: Birth) -> str:
    """3 of 2100 values are NaN"""
    kind = "NaN" if birth.nan == birth.bad else "infinite" if not birth.nan else "NaN or infinite"
    verb = "is" if birth.bad == 1 else "are"
    return f"{birth.bad} of {birth.total} values of {variable_text(birth)} {verb} {kind} after this line"


def field_of(case: Case) -> str | None:
    """The bad field with its columns: `batch[0][:, 3]`."""
    source = case.source
    if source is None:
        return None
    return f"{source.name}[:, {source.columns[0]}]" if source.columns else source.name


def reached(case: Case, birth: Birth) -> Iterator[str]:
    """How much was bad, which rows, and how it got into the step."""
    yield counted(birth)
    if birth.columns and birth.holder in ("table", "series"):
        yield f"columns: {', '.join(f'`{c}`' for c in birth.columns[:8])}"
    if birth.rows:
        yield f"first rows: {', '.join(birth.rows[:8])}"
    source = case.source
    if source is not None:
        yield from entered(case, source)


def entered(case: Case, source: Source) -> Iterator[str]:
    """Where the step met the bad values."""
    origin = case.origin
    columns = (
        f", column{'s' if source.column_count > 1 else ''} {', '.join(map(str, source.columns))}"
        if source.columns
        else ""
    )
    rows = f"{source.row_count} of {source.tensor.shape[0]} rows" if source.tensor.shape else "the value"
    sample = f", the first is sample {source.sample} of the data set" if source.sample is not None else ""
    file = f", loaded from `{source.file}`" if source.file else ""
    step, what = case.sick.step, f"{rows}{columns}{sample}{file}"
    yield (
        f"entered step {step} at {origin.op.where} as `{source.name}` {source.tensor}: {what}"
        if origin is not None and origin.op.where is not None
        else f"entered step {step} as `{source.name}` {source.tensor}: {what}"
    )
    yield from _strange(source)


def _strange(source: Source) -> Iterator[str]:
    """What the data check-up finds in the same field besides."""
    seen = source.checked
    if seen is None:
        return
    if seen.nan and seen.inf:
        yield f"among its {source.tensor.numel} values: {seen.nan} NaN, {seen.inf} infinite"
    flat = [column for column in seen.flat_columns if column not in source.columns]
    if flat and seen.shape[0] >= _ENOUGH_ROWS:
        said = f"column {flat[0]} holds" if len(flat) == 1 else f"columns {', '.join(map(str, flat[:6]))} hold"
        yield f"{said} one value only in all {seen.shape[0]} rows of `{source.name}`"
    if seen.beyond_half:
        yield f"beyond the range of float16 besides: {seen.beyond_half} of its values"


def every_other(case: Case) -> tuple[Remedy, ...]:
    """The command that lists all such rows, not only those of this step: of the one file that was read, or of all."""
    files, script = _files_read(case), " ".join(case.run.info.argv)
    if len(files) == 1:
        keys = "".join(f" --group-by {key}" for key in _keys(case))
        return (Remedy(title=f"list every other such row: `torchmedic data {files[0]}{keys} --rows bad.csv`"),)
    if files and script:
        return (Remedy(title=f"list every other such row: `torchmedic data --rows bad.csv --for {script}`"),)
    dataset = case.source.dataset if case.source is not None else ""
    if dataset and not files:
        asked = "torchmedic.check_data(dataset, samples=None)"
        return (Remedy(title=f"count every other such sample of `{dataset}` in Python: `{asked}`"),)
    return ()


def _files_read(case: Case) -> list[str]:
    """The file that the guilty line reads; else every data file that the script was seen to read."""
    birth, here = case.birth, case.run.info.cwd
    seen = list(case.run.all(FileRead))
    if birth is not None and birth.was_read:
        named = _DATA_FILE.search(birth.where.source)
        there = [s for s in seen if s.where is not None and (s.where.file, s.where.line) == _place(birth.where)]
        seen = there or seen
        if not seen and named is not None:
            return [named.group(1)]
    if not seen and case.source is not None and case.source.file:
        return [case.source.file]
    paths = [PurePath(s.path) for s in seen]
    shown = [str(path.relative_to(here)) if here and path.is_relative_to(here) else str(path) for path in paths]
    return list(dict.fromkeys(shown))


def _place(where: Location) -> tuple[str, int]:
    return where.file, where.line


def _keys(case: Case) -> list[str]:
    """The columns whose groups the guilty line scales."""
    birth = case.birth
    if birth is None or birth.was_read:
        return []
    return list(dict.fromkeys(s.key for s in case.run.all(NormalisedBy) if _place(s.where) == _place(birth.where)))


def is_label(case: Case) -> bool:
    """Whether the bad field is what a loss compares with."""
    source, origin = case.source, case.origin
    if source is None or origin is None:
        return False
    called = f"{origin.op.op} {origin.op.called}".lower()
    is_second = source.name in ("batch[1]", "batch['labels']", "batch['label']", "batch['y']", "batch['target']")
    line = origin.op.where.source.lower() if origin.op.where is not None and not origin.op.module else ""
    return source.is_label or (is_second and any(word in f"{called} {line}" for word in (*_LOSSES, "criterion")))


def shown_at(place: Location | None, why: str) -> tuple[Also, ...]:
    return (Also(location=place, why=why),) if place is not None else ()
