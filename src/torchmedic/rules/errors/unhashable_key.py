"""A list, array or dictionary used where only what cannot change may stand: as a key, or in a set."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Frame, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, asks_for_slice, crash_in, said, short_type, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_TAKING_KEYS = ("add", "get", "setdefault", "pop", "discard", "remove", "hash", "lru_cache", "cache")
_CURES = {
    "list": "tuple({0})",
    "set": "frozenset({0})",
    "dict": "tuple(sorted({0}.items()))",
    "ndarray": "tuple({0}.tolist())",
    "Series": "tuple({0})",
}


class UnhashableKey(Rule):
    """Keys of a dictionary and members of a set must not be changeable."""

    code = "ERR102"
    name = "unhashable-key"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`unhashable type: 'list'` (or `dict`, `numpy.ndarray`, `slice`)"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, r"unhashable type: '(?P<kind>[\w.]+)'")
        where = user_line(crash) if crash is not None else None
        code = Code.of(run)
        if where is not None and asks_for_slice(crash):
            yield self._sliced(code, where)
            return
        if crash is None or found is None or where is None:
            return
        kind = short_type(found["kind"])
        key = _key(code, where, crash.user_frame, found["kind"])
        made = code.last_assignment(key, where) if key.isidentifier() else None
        yield self.diagnose(
            headline=f"`{key}` is a `{kind}`, which cannot be a key" if key else f"a `{kind}` cannot be a key",
            confidence="proven",
            where=where,
            mark=key if key in where.source else "",
            label="keys and members of a set must not be changeable" if key else "",
            also=also((made.location if made is not None else None, f"`{key}` is made here"), but=where),
            culprit=Culprit(tensor=key or None, op="hash"),
            evidence=(f"a `{kind}` can change, so Python gives it no hash; a dictionary and a set need one",),
            remedies=(_cure(kind, key),),
        )

    def _sliced(self, code: Code, where: Location) -> Diagnosis:
        owners = [
            ast.unparse(node.value)
            for statement in code.statements(where)
            for node in ast.walk(statement)
            if isinstance(node, ast.Subscript) and any(isinstance(part, ast.Slice) for part in ast.walk(node.slice))
        ]
        owner = owners[0] if len(owners) == 1 else ""
        return self.diagnose(
            headline=f"`{owner}` has keys, not positions: it has no slices" if owner else "a slice was used as a key",
            confidence="proven",
            where=where,
            mark=f"{owner}[" if owner and f"{owner}[" in where.source else "",
            culprit=Culprit(tensor=owner or None, op="hash"),
            remedies=(Remedy(title=f"slice a list of it: `list({owner or 'd'}.items())[:n]`; of a table: `.iloc`"),),
        )


def _key(code: Code, where: Location, frame: Frame | None, kind: str) -> str:
    """The one expression on a line that is used as a key and may be of this type."""
    found: list[str] = []
    for statement in code.statements(where):
        for node in ast.walk(statement):
            found += [ast.unparse(key) for key in _keys_in(node) if _may_be(key, frame, kind)]
    known = list(dict.fromkeys(found))
    return known[0] if len(known) == 1 else ""


def _keys_in(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Subscript):
        yield node.slice
    elif isinstance(node, ast.Compare) and any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
        yield node.left
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None)
    elif isinstance(node, ast.DictComp):
        yield node.key
    elif isinstance(node, ast.Set):
        yield from node.elts
    elif isinstance(node, ast.SetComp):
        yield node.elt
    elif isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _TAKING_KEYS:
        yield from node.args[:1]


def _may_be(key: ast.expr, frame: Frame | None, kind: str) -> bool:
    """Whether a key has this type; one whose value was not kept may have it, a constant may not."""
    literals = {"list": (ast.List, ast.ListComp), "dict": (ast.Dict, ast.DictComp), "set": (ast.Set, ast.SetComp)}
    if isinstance(key, literals.get(kind, ())):
        return True
    if isinstance(key, (ast.Constant, ast.Slice, ast.List, ast.Dict, ast.Set)):
        return False
    held = frame.value(dotted(key)) if frame is not None and isinstance(key, (ast.Name, ast.Attribute)) else None
    return held is None or short_type(held.type) == short_type(kind)


def _cure(kind: str, key: str) -> Remedy:
    if kind in _CURES:
        return Remedy(title=f"use what cannot change in its place: `{_CURES[kind].format(key or 'key')}`")
    return Remedy(title="use a number, a text or a tuple of these as the key")
