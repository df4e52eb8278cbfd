"""Reads sources for tables of which some columns were put in a new order after others had been taken out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.late import late_dataclass
from torchmedic.probes.exam.shuffled_pairs import DRAWING, SEEDING, Apart, Scope, scopes
from torchmedic.probes.source.expressions import called_name

_REDUCING = frozenset(
    ("mean", "std", "var", "min", "max", "sum", "median", "quantile", "count", "nunique", "unique", "any", "all")
)
_DRAWN = frozenset(("normal", "integers", "uniform", "random", "rand", "randn", "randint", "choice", "poisson"))
_FACTS = frozenset(("columns", "shape", "index", "dtypes", "size", "ndim", "dtype"))
_CHOOSING = frozenset(
    {"dropna", "query", "groupby", "merge", "head", "tail", "drop_duplicates", "explode", "train_test_split", "filter"}
    | {"sample", "nlargest", "where", "concat", "append", "isin", "split", "value_counts", "describe", "corr"}
)
_LABELS = re.compile(r"(self\.)?(y|ys|labels?|targets?)(_|$)", re.IGNORECASE)
_ALIGNING = frozenset(("sort_index", "sort_values", "reindex", "reindex_like", "align"))
_JOINING = frozenset(("zip", "train_test_split", "fit"))
_SHUFFLING = frozenset(("sample", "shuffle", "train_test_split", *DRAWING))


@late_dataclass(frozen=True)
class _Move:
    """A statement that gives `names` the rows of `base` in a new order; `seed` is the text of its own seed."""

    line: int
    text: str
    names: tuple[str, ...]
    base: str
    seed: str
    is_split: bool = False


def frames_shuffled_apart(tree: ast.Module) -> Iterator[Apart]:
    """Statements that shuffle, or split, a table alone, of which something was taken out before.

    >>> text = "y = df['y'].values\\nx = df.drop(columns='y').sample(frac=1)\\nd = TensorDataset(x, y)"
    >>> [(found.line, found.moved, found.left) for found in frames_shuffled_apart(ast.parse(text))]
    [(2, 'x', 'y')]
    >>> text = "from sklearn.model_selection import train_test_split\\nx, y = load()\\n"
    >>> text += "a, b = train_test_split(x)\\nc, d = train_test_split(y)\\nd = TensorDataset(a, c)"
    >>> [(found.line, found.moved, found.left) for found in frames_shuffled_apart(ast.parse(text))]
    [(3, 'a', 'y')]
    >>> text = text.replace("t(x)", "t(x, random_state=1)").replace("t(y)", "t(y, random_state=1)")
    >>> list(frames_shuffled_apart(ast.parse(text)))
    []
    """
    imported = {(each.asname or each.name).partition(".")[0] for each in _imports(tree)}
    for scope in scopes(tree):
        for move in _moves(scope):
            later = {called_name(n) for n in scope.nodes if isinstance(n, ast.Call) and n.lineno > move.line}
            # The same seed before each of two splits gives the same order; an index may bring the old one back.
            is_known = "train_test_split" in imported and not later & SEEDING
            if later & _ALIGNING or (move.is_split and not is_known):
                continue
            moved = _carried(scope, set(move.names), move.line, set())
            for name in _taken_out(scope, move, _ancestors(scope, move.base, move.line, imported)):
                others = _carried(scope, {name}, move.line, moved, move)
                joined = _joined(tree, scope, moved, others, move.line)
                if joined is not None:
                    yield Apart(move.line, move.text, move.names[0], name, joined)


def _imports(tree: ast.Module) -> Iterator[ast.alias]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from node.names


def _taken_out(scope: Scope, move: _Move, kin: set[str]) -> Iterator[str]:
    """Names that hold rows of the same table since before it was moved, and were not given anything since."""
    last: dict[str, int] = {}
    found: dict[str, None] = {}
    for node in (n for n in scope.nodes if isinstance(n, ast.Assign) and len(n.targets) == 1):
        target = node.targets[0]
        names = [key_of(part) for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
        last |= {name: max(node.lineno, last.get(name, 0)) for name in names if name}
        # `x, y = load()` gives two tables that belong together; `train, test = load()` does not.
        is_one = not isinstance(node.value, ast.Tuple) and len(names) == 2 and bool(kin & set(names))
        is_one = is_one and any(_LABELS.match(name) for name in names)
        is_column = len(names) == 1 and _carries(node.value, kin, whole=True)
        if node.lineno < move.line and (is_one or is_column):
            found |= dict.fromkeys(name for name in names if name and name not in (*move.names, *kin))
    yield from (name for name in found if last[name] < move.line)


def key_of(node: ast.AST) -> str:
    """`x` or `self.x`; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return ast.unparse(node) if is_own else ""


def _moves(scope: Scope) -> Iterator[_Move]:
    for node in scope.nodes:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        names = tuple(key_of(each) for each in target.elts) if isinstance(target, ast.Tuple) else (key_of(target),)
        if not all(names):
            continue
        if isinstance(value, ast.Call) and called_name(value) == "train_test_split" and len(value.args) == 1:
            is_kept = any(k.arg == "shuffle" and ast.unparse(k.value) == "False" for k in value.keywords)
            base = key_of(value.args[0])
            if base and len(names) == 2 and not is_kept:
                yield _Move(node.lineno, ast.unparse(node), names, base, _seed(value), is_split=True)
        elif len(names) == 1 and (shuffle := _sampled(value)) is not None:
            yield _Move(node.lineno, ast.unparse(node), names, shuffle[0], shuffle[1])


def _sampled(value: ast.expr) -> tuple[str, str] | None:
    """The table of `df.sample(…)`, whatever is done with its index afterwards, and the seed."""
    while isinstance(value, ast.Call) and called_name(value) in ("reset_index", "copy"):
        value = value.func.value if isinstance(value.func, ast.Attribute) else value.args[0]
    is_sample = isinstance(value, ast.Call) and called_name(value) == "sample" and isinstance(value.func, ast.Attribute)
    if not is_sample or not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return None
    is_whole = any(k.arg == "frac" and ast.unparse(k.value) in ("1", "1.0") for k in value.keywords)
    table = value.func.value
    while isinstance(table, ast.Call) and isinstance(table.func, ast.Attribute):
        table = table.func.value
    base = key_of(table)
    is_base = base and _carries(value.func.value, {base}, whole=True)
    return (base, _seed(value)) if is_base and is_whole else None


def _seed(call: ast.Call) -> str:
    return next((ast.unparse(k.value) for k in call.keywords if k.arg == "random_state"), "")


def _ancestors(scope: Scope, name: str, line: int, imported: set[str]) -> set[str]:
    """A table and those that it was made of, row by row, before a line."""
    found, waiting = {name}, [name]
    while waiting:
        wanted = waiting.pop()
        for node in scope.nodes:
            if isinstance(node, ast.Assign) and node.lineno < line and key_of(node.targets[0]) == wanted:
                keys = {key_of(part) for part in ast.walk(node.value)} - imported - {""}
                new = {key for key in keys if _carries(node.value, {key}, whole=True)}
                waiting += new - found
                found |= new
    return found


def _carried(scope: Scope, names: set[str], line: int, strange: set[str], move: _Move | None = None) -> set[str]:
    """Names that hold the rows of some others after a line, and nothing of the strange ones."""
    found = set(names)
    for node in sorted((n for n in scope.nodes if isinstance(n, ast.Assign)), key=lambda n: n.lineno):
        if node.lineno <= line or not _carries(node.value, found):
            continue
        if strange and any(key_of(part) in strange for part in ast.walk(node.value)):
            continue
        if move is not None and _is_in_step(node.value, move):
            continue
        for target in node.targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            found |= {key for key in map(key_of, parts) if key}
    return found


def _is_in_step(value: ast.expr, move: _Move) -> bool:
    """Whether rows are put in a new order that may be the same one: by the same seed, or in a way not known."""
    calls = [n for n in ast.walk(value) if isinstance(n, ast.Call) and called_name(n) in _SHUFFLING]
    splits = [call for call in calls if called_name(call) == "train_test_split"]
    if not calls:
        return False
    return not (move.is_split and len(calls) == len(splits) == 1 and (not move.seed or _seed(splits[0]) != move.seed))


def _carries(node: ast.AST, names: set[str], whole: bool = False) -> bool:
    """Whether an expression gives the rows of some names, in their order, and `whole` all of them.

    >>> texts = ("x['y'].values", "x.loc[:, 'y']", "x[:9]", "x[x.age > 9]", "x.mean()", "pick(x)")
    >>> [_carries(ast.parse(text, mode="eval").body, {"x"}, whole=True) for text in texts]
    [True, True, False, False, False, False]
    """
    if key_of(node):
        return key_of(node) in names
    if isinstance(node, ast.Attribute):
        return node.attr not in _FACTS and _carries(node.value, names, whole)
    if isinstance(node, ast.Call):
        is_unknown = isinstance(node.func, ast.Name) or called_name(node) in _CHOOSING
        if called_name(node) in _REDUCING or called_name(node) == "len" or (whole and is_unknown):
            return False
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr not in _DRAWN
        owner = [node.func.value] if is_method and isinstance(node.func, ast.Attribute) else []
        return any(_carries(part, names, whole) for part in (*owner, *node.args))
    if isinstance(node, (ast.Subscript, ast.Starred)):
        is_part = whole and isinstance(node, ast.Subscript) and not _takes_columns(node.slice)
        return not is_part and _carries(node.value, names, whole)
    if isinstance(node, ast.BinOp):
        return _carries(node.left, names, whole) or _carries(node.right, names, whole)
    return isinstance(node, (ast.Tuple, ast.List)) and any(_carries(part, names, whole) for part in node.elts)


def _takes_columns(index: ast.expr) -> bool:
    """Whether `x[index]` gives columns by name, or by `[:, …]`, with all rows."""
    if isinstance(index, ast.Tuple) and index.elts:
        first = index.elts[0]
        return isinstance(first, ast.Slice) and first.lower is first.upper is first.step is None
    names = index.elts if isinstance(index, ast.List) else [index]
    return all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in names)


def _joined(tree: ast.Module, scope: Scope, moved: set[str], left: set[str], line: int) -> int | None:
    """The first line that uses one of each side by side."""
    own = any(name.startswith("self.") for name in moved)
    nodes = [*scope.nodes, *(ast.walk(tree) if own else ())]
    for node in nodes:
        pairs: list[ast.expr] = []
        if isinstance(node, ast.Call) and (called_name(node) in _JOINING or called_name(node)[:1].isupper()):
            pairs = node.args if len(node.args) == 2 else []
        elif isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.ctx, ast.Load):
            pairs = node.elts if all(isinstance(part, ast.Subscript) for part in node.elts) else []
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            pairs = node.value.elts
        keys = [_row_key(part) for part in pairs]
        apart = {rows for name, rows in keys if name in moved} & {rows for name, rows in keys if name in left}
        if apart and (node.lineno > line or node not in scope.nodes):
            return int(node.lineno)
    return None


def _row_key(node: ast.expr) -> tuple[str, str]:
    """The name behind `torch.tensor(x.values)` or `x[:n]`, and the rows that are taken of it."""
    rows = ""
    while not key_of(node):
        if isinstance(node, ast.Subscript):
            rows, node = ast.unparse(node.slice), node.value
        elif isinstance(node, ast.Attribute) and node.attr not in _FACTS:
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            node = node.func.value
        elif isinstance(node, ast.Call) and len(node.args) >= 1:
            node = node.args[0]
        else:
            return "", rows
    return key_of(node), rows
