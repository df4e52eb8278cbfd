"""A lambda, a local class or an open handle that has to be pickled for another process or a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._batches import refetched
from torchmedic.rules.errors._reading import also, said, user_line
from torchmedic.rules.errors._syntax import Code

_WORDS = (
    r"Can't pickle (?:local object )?<(?:function|class) '?(?P<name>[^>']+?)'?(?: at 0x\w+)?>",
    r"Can't (?:pickle|get) local object '(?P<name>[^']+)'",
    r"cannot pickle '(?P<name>[^']+)' object",
)


class UnpicklableObject(Rule):
    """Something that cannot be pickled was about to be sent to a worker or saved."""

    code = "ERR036"
    name = "unpicklable-object"
    symptoms = (Symptom.CRASH,)
    tell_apart = "PicklingError, or `Can't get local object`, or `cannot pickle '…' object`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = run.first(Crash)
        found = said(crash, *_WORDS)
        if crash is None or found is None:
            return
        name = found.group("name").replace("<locals>.", "")
        seen = refetched(run)
        to_worker = any("multiprocessing" in f.location.file for f in crash.frames)
        used = (seen.loader_built if seen is not None else None) or user_line(crash)
        where = _defined(run, name) or used
        yield self.diagnose(
            headline=f"`{name}` cannot be pickled for {'a worker process' if to_worker else 'saving'}",
            confidence="proven",
            where=where,
            label="cannot be found by name from another process" if _has_no_name(name) else "",
            also=also((used, "needed in another process here" if to_worker else "saved here"), but=where),
            culprit=Culprit(phase="data" if to_worker else "setup"),
            evidence=tuple(_evidence(name, to_worker, seen.start_method if seen is not None else "")),
            remedies=tuple(_remedies(name, to_worker, _names_kept(Code.of(run), name))),
        )


def _has_no_name(name: str) -> bool:
    return "lambda" in name or "." in name


def _defined(run: Run, name: str) -> Location | None:
    """The lambda, when the user's files have exactly one that fits; or the local function or class."""
    code = Code.of(run)
    last = name.rpartition(".")[2]
    found: list[Location] = []
    for file, tree in code.trees.items():
        for node in ast.walk(tree):
            is_lambda = "lambda" in last and isinstance(node, ast.Lambda)
            named = isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == last
            if is_lambda or named:
                found.append(code.place(file, node))
    around = re.sub(r"\.?<lambda>$", "", name)
    fitting = [place for place in found if not around or place.function.startswith(around)] or found
    return fitting[0] if len({p.line for p in fitting}) == 1 else None


def _evidence(name: str, to_worker: bool, method: str) -> Iterator[str]:
    if _has_no_name(name):
        yield "functions and classes are pickled by their name in a module; a lambda or a local one has none there"
    else:
        yield f"an object of type `{name}` is bound to this process (a file, a lock, a generator, a connection)"
    if to_worker and method:
        yield f"workers are started by `{method}`, which pickles the dataset, `collate_fn` and `worker_init_fn`"


def _names_kept(code: Code, name: str) -> list[str]:
    """Names of the function around it that a local function reads."""
    outer, _, inner = name.rpartition(".")
    for tree in code.trees.values():
        for around in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
            local = next((n for n in around.body if isinstance(n, ast.FunctionDef) and n.name == inner), None)
            if local is None or around.name != outer.rpartition(".")[2]:
                continue
            own = {a.arg for a in (*local.args.args, *local.args.kwonlyargs)} | _bound_in(local)
            known = {a.arg for a in (*around.args.args, *around.args.kwonlyargs)} | _bound_in(around)
            read = [n.id for n in ast.walk(local) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
            return [n for n in dict.fromkeys(read) if n in known and n not in own]
    return []


def _bound_in(function: ast.FunctionDef) -> set[str]:
    stores = (n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return {n.id for n in stores}


def _remedies(name: str, to_worker: bool, kept: list[str]) -> Iterator[Remedy]:
    if "lambda" in name:
        yield Remedy(title="write it as a `def` at the top level of the module")
    elif kept:
        last, names = name.rpartition(".")[2], ", ".join(f"`{n}`" for n in kept)
        given = ", ".join(f"{n}={n}" for n in kept)
        yield Remedy(
            title=f"move `{last}` to the top level with {names} as parameters, and hand on "
            f"`functools.partial({last}, {given})`"
        )
        yield Remedy(title=f"or make it a class that keeps {names} and has a `__call__`")
    elif _has_no_name(name):
        yield Remedy(title=f"move `{name.rpartition('.')[2]}` to the top level of the module")
    elif to_worker:
        yield Remedy(title=f"open the `{name}` inside `__getitem__` or `worker_init_fn`, not in `__init__`")
    else:
        yield Remedy(title="save `model.state_dict()` instead of the whole object")
