"""The data check-up: every source in turn, what each could not give, and what several of them share."""

from __future__ import annotations

import contextlib
import functools
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from torchmedic.checkups.data.closer import columns_of_codes
from torchmedic.checkups.data.engine import Table, connected
from torchmedic.checkups.data.guessing import roles_of
from torchmedic.checkups.data.opening import Opened, Unreadable, check_columns, open_tables
from torchmedic.checkups.data.options import DataError, Options, Progress, unlisted
from torchmedic.checkups.data.rows import RowList
from torchmedic.checkups.data.sources import DATABASES, Source, find_sources
from torchmedic.checkups.data.statistics import numbers_as_text
from torchmedic.checkups.data.tables import Looked, first_look, table_facts
from torchmedic.checkups.data.twins import is_held_out, is_training, shared
from torchmedic.facts import DataSource, FileTrouble, Observation

_TABLES = ("csv", "parquet", "jsonl", "arrow", "sqlite", "duckdb")
_MOST_AGAIN = 5
_CUT = r"(?i)truncat|unexpected end|file ended before|unexpected eof|premature|gzip|zstd|decompress|deflate"


@dataclass
class Checkup:
    """One check-up under way: what was asked, what was seen so far."""

    options: Options
    progress: Progress
    seen: list[Observation] = field(default_factory=list)
    looked: list[Looked] = field(default_factory=list)
    interrupted: bool = False
    rows: RowList | None = None

    def note(self, facts: Iterator[Observation]) -> None:
        """Keep facts one by one: an interruption loses only the one under way."""
        for fact in facts:
            self.seen.append(fact)


def check_paths(targets: tuple[str, ...], options: Options, progress: Progress | None = None) -> Checkup:
    """Check files, folders and patterns. Ctrl-C ends it early with what is known so far."""
    checkup = Checkup(options, progress or Progress())
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(connected(options.memory_limit))
        checkup.progress.connection = connection
        sources, look = _engine(checkup, connection, stack, targets)
        checkup.progress.sources = len(sources)
        _refuse_without_table(options, sources)
        if options.rows_path is not None:
            checkup.rows = RowList(connection)
        try:
            for source in sources:
                _check(checkup, source, look)
                checkup.progress.done += 1
            _check_told(checkup)
            compare_tables(checkup)
        except (KeyboardInterrupt, RuntimeError) as error:
            if not _is_interrupt(error):
                raise
            checkup.interrupted = True
            checkup.seen += _unfinished(checkup, sources)
        if checkup.rows is not None and options.rows_path is not None:
            checkup.rows.write(options.rows_path)
    return checkup


def _refuse_without_table(options: Options, sources: list[Source]) -> None:
    """Columns and conditions are of tables: what was asked of arrays or images would be left undone without a word."""
    asked = {"--group-by": options.group_by, "--label": options.label, "--id": options.id, "--time": options.time}
    asked |= {"--split": options.split, "--where": options.where}
    told = next((name for name, value in asked.items() if value), None)
    if told and options.engine == "duckdb" and not any(source.format in _TABLES for source in sources):
        raise DataError(f"{told} is about columns of a table, and there is none")


def _unfinished(checkup: Checkup, sources: list[Source]) -> Iterator[DataSource]:
    """What an interruption left unseen: nobody is to take it for healthy."""
    begun = {seen.source for seen in checkup.seen if isinstance(seen, DataSource)}
    for source in sources[checkup.progress.done :]:
        if source.name not in begun:
            files = tuple(str(path) for path in source.files[:1000])
            yield DataSource(source=source.name, format=source.format, files=files, interrupted=True)


def _check_told(checkup: Checkup) -> None:
    """Of several tables each has its own columns, but what was named must be in one of them."""
    if checkup.looked:
        check_columns([column for looked in checkup.looked for column in looked.table.columns], checkup.options)


def _is_interrupt(error: BaseException) -> bool:
    """DuckDB wraps Ctrl-C in an error of its own."""
    return isinstance(error, KeyboardInterrupt) or "interrupt" in str(error).lower()


def _engine(
    checkup: Checkup, connection: Any, stack: contextlib.ExitStack, targets: tuple[str, ...]
) -> tuple[list[Source], Callable[[Source], None]]:
    """The sources as the engine knows them, and how it looks at one."""
    options = checkup.options
    if options.engine == "duckdb":
        return find_sources(targets), functools.partial(_look, checkup, connection)
    from torchmedic.checkups.data.spark import open_spark, spark_session, spark_sources

    session = stack.enter_context(spark_session(options.remote))

    def look(source: Source) -> None:
        check_tables(checkup, lambda _: iter([Opened(open_spark(session, source, options, connection))]), source)

    return spark_sources(targets), look


def _look(checkup: Checkup, connection: Any, source: Source) -> None:
    """One source on this machine."""
    if source.format in _TABLES:
        check_tables(checkup, lambda as_text: open_tables(connection, source, checkup.options, as_text), source)
    else:
        from torchmedic.checkups.data.files import other_facts

        listing = checkup.rows.note if checkup.rows is not None else unlisted
        checkup.note(other_facts(source, checkup.options, checkup.progress, listing))


def _check(checkup: Checkup, source: Source, look: Callable[[Source], None]) -> None:
    """One source; what goes wrong with it is a finding, and the others are still checked."""
    try:
        look(source)
    except DataError:
        raise
    except Unreadable as error:
        checkup.seen.append(
            FileTrouble(source=source.name, trouble=error.trouble, detail=error.detail, line=error.line)
        )
    except Exception as error:  # a hostile file must not hide the others
        if _is_interrupt(error):
            raise
        checkup.seen.append(_trouble(source, error, checkup.options))


def _trouble(source: Source, error: Exception, options: Options) -> FileTrouble:
    said = re.sub(r"\s+", " ", str(error).partition("\n\nLINE")[0]).strip()
    said = re.sub(r"^(?:[\w ]+ )?Error: ", "", said)
    if options.where and type(error).__name__ in ("BinderException", "ParserException", "ConversionException"):
        raise DataError(f"--where: {said[:160]}")
    cut = re.search(_CUT, said)
    line = re.search(r"(?i)line:? (\d+)", said)
    return FileTrouble(
        source=source.name,
        trouble="truncated" if cut else "unreadable",
        detail=said[:200] or type(error).__name__,
        line=int(line.group(1)) if line else None,
    )


def check_tables(checkup: Checkup, opened_again: Callable[[frozenset[str]], Iterator[Opened]], source: Source) -> None:
    """All tables of a source. A column with text among its numbers is read again as text, so that no row is lost."""
    for number, opened in enumerate(opened_again(frozenset())):
        started = time.monotonic()
        if checkup.progress.sources <= 1 and source.format not in DATABASES:
            # Of several tables each has its own columns: test data may well lack the label.
            check_columns(opened.table.columns, checkup.options)
        looked = first_look(opened.table, checkup.options, checkup.progress)
        as_text: frozenset[str] = frozenset()
        for _ in range(_MOST_AGAIN):
            more = {name for _, kind, _, name, _ in opened.rejected() if kind == "CAST"}
            more |= {c.name for c in numbers_as_text(looked.numbers) if looked.roles.of(c) not in ("group", "id")}
            more -= as_text
            if not more:
                break
            as_text |= more
            opened = next(one for i, one in enumerate(opened_again(as_text)) if i == number)
            opened.table = opened.table.with_numbers(as_text - columns_of_codes(opened.table, as_text))
            looked = first_look(opened.table, checkup.options, checkup.progress)
        _note_table(checkup, opened, looked, source, started)


def _note_table(checkup: Checkup, opened: Opened, looked: Looked, source: Source, started: float) -> None:
    checkup.seen += opened.troubles
    checkup.seen += _ragged_lines(opened)
    checkup.looked.append(looked)
    rows, options = looked.numbers.rows, checkup.options
    at = len(checkup.seen)
    described = DataSource(
        source=looked.table.name,
        format=source.format,
        rows=rows,
        columns=len(looked.table.columns),
        files=tuple(str(path) for path in opened.files),
        bytes=sum(path.stat().st_size for path in opened.files if path.exists()),
        roles=looked.roles.named(),
        guessed=tuple(looked.roles.guessed),
        where_clause=options.where,
        asked=next((options.read_at[str(path)] for path in opened.files if str(path) in options.read_at), None),
        interrupted=True,
    )
    checkup.seen.append(described)
    if not rows and not any(seen.trouble in ("broken-line", "truncated") for seen in opened.troubles):
        trouble = "filtered-away" if options.where else "empty"
        detail = options.where or f"a header of {len(looked.table.columns)} columns and no row"
        checkup.seen.append(FileTrouble(source=looked.table.name, trouble=trouble, detail=detail))
    checkup.note(table_facts(looked, options, checkup.progress))
    if checkup.rows is not None:
        checkup.rows.add(looked, checkup.seen[at:])
    seconds = time.monotonic() - started
    checkup.seen[at] = replace(described, sampled=looked.sampled, seconds=seconds, interrupted=False)


def _ragged_lines(opened: Opened) -> Iterator[FileTrouble]:
    """Lines with too few or too many cells, which the reader leaves out."""
    by_file: dict[str, dict[int, str]] = {}
    for file, kind, line, _, text in opened.rejected():
        if kind == "UNQUOTED VALUE":
            yield FileTrouble(source=file, trouble="open-quote", detail=text.partition("\n")[0][:60], line=line)
            return
        if kind != "CAST":
            by_file.setdefault(file, {}).setdefault(line, text)
    for file, lines in by_file.items():
        first = min(lines)
        count = f"{len(lines)} line{'s' if len(lines) > 1 else ''}"
        detail = (
            f"{count} with another number of cells than the header, not counted as rows; the first: {lines[first][:60]}"
        )
        yield FileTrouble(source=file, trouble="ragged-lines", detail=detail, line=first)


def compare_tables(checkup: Checkup) -> None:
    """What a test table shares with the training table of the same columns."""
    for train in (looked for looked in checkup.looked if is_training(_part(looked.table))):
        for test in (looked for looked in checkup.looked if is_held_out(_part(looked.table))):
            with checkup.progress.stage("what training and test data share"):
                checkup.note(_shared(train.table, test.table, checkup.options))


def _part(table: Table) -> str:
    """What tells training data from test data: the file's name, or that of its folder where all have one name."""
    path = Path(table.name)
    return path.name if is_training(path.name) or is_held_out(path.name) else path.parent.name


def _shared(train: Table, test: Table, options: Options) -> Iterator[Observation]:
    theirs = {column.name: column for column in test.columns}
    common = [
        replace(c.copied(), raw="", bad="")
        for c in train.columns
        if c.name in theirs and theirs[c.name].family == c.family
    ]
    if len(common) < 0.6 * max(len(train.columns), len(test.columns)):
        return
    both = train.with_columns(common)
    both.name = test.name
    pairs = [(theirs[column.name], column) for column in common]
    named = [(one.sql, other.sql) for one, other in pairs] + [(one.whole, other.whole) for one, other in pairs]
    right = ", ".join(f"{one} AS {other}" for one, other in named if one)
    small, _ = both.sample()
    roles = roles_of(both, options)
    short = Path(train.name).name, Path(test.name).name
    names = short if short[0] != short[1] else (_part(train), _part(test))
    yield from shared(both, small, roles, "SELECT * FROM {t}", f"SELECT {right} FROM {test.view}", names)
