"""A key or column that is not there, with the ones that are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, MissingKey, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, asks_for_slice, crash_in, user_line
from torchmedic.rules.errors._syntax import Code

_MOST_SHOWN = 12
_LONGEST_KEY = 120


_MERGE = Remedy(
    title="merge the inner dictionaries too: `cfg[key] = {**cfg[key], **new[key]}`",
    detail="`update`, `|` and `{**a, **b}` put the new inner dictionary in the place of the old one",
)


class MissingKeyRule(Rule):
    """A KeyError whose container was alive and could be asked for its keys."""

    code = "ERR040"
    name = "missing-key"
    symptoms = (Symptom.CRASH,)
    tell_apart = "KeyError on a subscript or a `pop` of a dict, a batch, a ModuleDict or a table"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        seen = run.last(MissingKey)
        if crash is None or crash.type_name != "KeyError" or asks_for_slice(crash):
            return
        if seen is None:
            yield from self._from_text(crash)
            return
        showed, code = user_line(crash), Code.of(run)
        if showed is not None and seen.is_position and not seen.same_as_text:
            yield self._by_label(code, showed, seen)
            return
        read = _reading_line(code) if seen.padded and seen.key.strip("'\"") in [_bare(k) for k in seen.keys] else None
        if showed is not None and read is not None:
            yield self._padded(showed, read, seen)
            return
        merged = _shallow_merge(code, seen)
        yield self.diagnose(
            headline=f"`{seen.container}` has no {_what(seen)} `{seen.key}`" + _nearest(seen),
            confidence="proven" if merged is None else "likely",
            where=merged or showed,
            mark=_written(seen, merged or showed),
            label="the inner dictionary is replaced here, not merged" if merged is not None else "",
            also=also((showed if merged is not None else None, "the key is asked for here")),
            culprit=Culprit(field=f"{seen.container}[{seen.key}]", phase="data", examples=seen.near),
            evidence=tuple(_evidence(seen)),
            remedies=tuple(_remedies(seen)) if merged is None else (_MERGE,),
        )

    def _from_text(self, crash: Crash) -> Iterator[Diagnosis]:
        """A pasted message: the key is known, and not what was asked for it."""
        key = crash.message.strip().partition("\n")[0]
        if crash.source != "text" or not key or len(key) > _LONGEST_KEY:
            return
        is_number = key.lstrip("-").isdigit()
        yield self.diagnose(
            headline=f"no row or key is labelled {key}" if is_number else f"there is no key {_in_ticks(key)}",
            confidence="proven",
            where=user_line(crash),
            culprit=Culprit(field=key, phase="data"),
            remedies=(
                *(
                    (
                        Remedy(
                            title="a table that lost rows keeps their labels: `.iloc[…]`, or `.reset_index(drop=True)`"
                        ),
                    )
                    if is_number
                    else ()
                ),
                Remedy(title="print the keys there are, just before: `print(list(….keys()))`"),
                Remedy(title="or ask with a default: `….get(key, default)`, where the key may be missing"),
            ),
        )

    def _by_label(self, code: Code, showed: Location, seen: MissingKey) -> Diagnosis:
        """A number was meant as a place, and was looked up as a label."""
        of_frame = seen.type.endswith("DataFrame") and not seen.container.endswith((".loc", ".at"))
        written = seen.container.removesuffix(".loc").removesuffix(".at")
        cut = _filtered(code)
        shown = ", ".join(seen.keys[:6]) + (", …" if seen.count > 6 else "")
        return self.diagnose(
            headline=f"`{seen.container}[{seen.key}]` looks for a column called {seen.key}, not for row {seen.key}"
            if of_frame
            else f"no row of `{written}` is labelled {seen.key}: rows are looked up by label here, not by place",
            confidence="proven",
            where=showed,
            also=also(
                (None if of_frame else cut, "rows are left out here, and the others keep their labels"), but=showed
            ),
            culprit=Culprit(field=f"{seen.container}[{seen.key}]", phase="data"),
            evidence=(
                f"`{written}` has {seen.rows} rows, and the columns {shown}"
                if of_frame
                else f"`{written}` has {seen.rows} rows, with the labels {shown}",
            ),
            remedies=(
                Remedy(title=f"take the row by its place: `{written}.iloc[…]`"),
                *(
                    ()
                    if of_frame
                    else (Remedy(title="or number the rows anew after filtering: `.reset_index(drop=True)`"),)
                ),
            ),
        )

    def _padded(self, showed: Location, read: Location, seen: MissingKey) -> Diagnosis:
        """Headers that were read with the blanks beside the commas."""
        leading = any(key[1:2].isspace() for key in seen.keys)
        called = next(key for key in seen.keys if _bare(key) == _bare(seen.key))
        return self.diagnose(
            headline=f"the column is called `{called}`, with a blank, not `{seen.key}`",
            confidence="proven",
            where=read,
            label=f"{seen.padded} of {seen.count} names keep a blank",
            also=also((showed, "looked up here"), but=read),
            culprit=Culprit(field=f"{seen.container}[{seen.key}]", phase="data", examples=seen.near),
            evidence=tuple(_evidence(seen)),
            remedies=(
                Remedy(title="drop the blanks after the commas where the file is read: `skipinitialspace=True`")
                if leading
                else Remedy(title="drop the blanks after reading: `table.columns = table.columns.str.strip()`"),
            ),
        )


def _in_ticks(key: str) -> str:
    return f"`{key}`" if "`" not in key else key


def _bare(key: str) -> str:
    return key.strip("'\"").strip()


def _reading_line(code: Code) -> Location | None:
    """The one line that reads a table from a text file."""
    places = {(place.file, place.line): place for place, _ in code.calls("read_csv", "read_table", "read_excel")}
    return next(iter(places.values())) if len(places) == 1 else None


def _filtered(code: Code) -> Location | None:
    """The one line that makes a table of some rows of another."""
    found = [
        code.place(file, node)
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _leaves_rows_out(node.value)
    ]
    return found[0] if len(found) == 1 else None


def _leaves_rows_out(value: ast.expr) -> bool:
    """
    >>> [_leaves_rows_out(ast.parse(text, mode="eval").body) for text in ("df[df.a > 3]", "df.dropna()", "df['a']")]
    [True, True, False]
    """
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr in ("dropna", "query", "drop_duplicates", "sample") or (
            value.func.attr not in ("reset_index",) and _leaves_rows_out(value.func.value)
        )
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "train_test_split"
    if isinstance(value, ast.Subscript):
        return any(isinstance(part, ast.Compare) or _asks(part) for part in ast.walk(value.slice))
    return False


def _asks(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("isin", "notna", "isna", "between")


def _shallow_merge(code: Code, seen: MissingKey) -> Location | None:
    """The one line that lays a dictionary over another, where the lower one had the key in an inner dictionary."""
    outer = [n for tree in code.trees.values() for n in ast.walk(tree) if isinstance(n, ast.Dict)]
    inner = [v for d in outer for v in d.values if isinstance(v, ast.Dict)]
    lower = any(seen.key in _spelt(d) and set(_spelt(d)) & set(seen.keys) for d in inner)
    upper = any(set(_spelt(d)) == set(seen.keys) and seen.key not in _spelt(d) for d in inner)
    merges = [place for place, call in code.calls("update") if len(call.args) == 1]
    merges += [
        code.place(file, node)
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict) and sum(key is None for key in node.keys) > 1
    ]
    return merges[0] if lower and upper and len(merges) == 1 else None


def _spelt(literal: ast.Dict) -> list[str]:
    return [repr(key.value) for key in literal.keys if isinstance(key, ast.Constant)]


def _written(seen: MissingKey, where: Location | None) -> str:
    """The subscript as the line spells it, with either kind of quotes."""
    spellings = (_asking(seen, key).removesuffix(")") for key in (seen.key, seen.key.replace("'", '"')))
    return next((s for s in spellings if where is not None and s in where.source), "")


def _asking(seen: MissingKey, key: str) -> str:
    return f"{seen.container}.{seen.method}({key})" if seen.method else f"{seen.container}[{key}]"


def _what(seen: MissingKey) -> str:
    return "column" if seen.type.endswith("DataFrame") else "key"


def _nearest(seen: MissingKey) -> str:
    return f", the nearest is `{seen.near[0]}`" if seen.near and not seen.same_as_text else ""


def _evidence(seen: MissingKey) -> Iterator[str]:
    shown = ", ".join(seen.keys[:_MOST_SHOWN]) + (", …" if seen.count > _MOST_SHOWN else "")
    yield (
        f"`{seen.container}` is a `{seen.type}` with {seen.count} {_what(seen)}s: {shown}"
        if seen.count
        else (f"`{seen.container}` is an empty `{seen.type}`")
    )
    if seen.same_as_text:
        yield f"the key is a {seen.key_type}; one of another type that reads the same is there"


def _remedies(seen: MissingKey) -> Iterator[Remedy]:
    if seen.same_as_text:
        other = "int" if seen.key_type == "str" else "str"
        yield Remedy(title=f"look it up as {other}: `{seen.container}[{other}(…)]`")
    elif seen.near:
        yield Remedy(title=f"write `{_asking(seen, seen.near[0])}`")
    else:
        yield Remedy(title=f"use one of these {_what(seen)}s, or put `{seen.key}` in where `{seen.container}` is made")
