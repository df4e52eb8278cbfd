"""An optimizer that was given no parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, ModelAtCrash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_GENERATORS = ("parameters", "filter", "map", "chain", "named_parameters")


class EmptyOptimizer(Rule):
    """The parameter list was empty: used up, never registered, or filtered away."""

    code = "ERR058"
    name = "empty-optimizer"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`optimizer got an empty parameter list`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        showed = user_line(crash) if crash is not None else None
        if crash is None or showed is None or not said(crash, "optimizer got an empty parameter list"):
            return
        code = Code.of(run)
        used_up = _used_up(code, showed)
        hidden = _hidden_layers(run, code) if used_up is None else None
        if used_up is not None:
            name, made, used = used_up
            yield self._consumed(name, made, used, showed)
        elif hidden is not None:
            yield self._hidden(hidden, showed, run)
        else:
            yield self._nothing(showed, run)

    def _consumed(self, name: str, made: Location, used: Location, showed: Location) -> Diagnosis:
        return self.diagnose(
            headline=f"`{name}` is a generator that was used up before the optimizer got it",
            confidence="proven",
            where=made,
            label="can be walked once",
            also=also((used, "walked here"), (showed, "empty here"), but=made),
            culprit=Culprit(tensor=name, phase="setup", op="optimizer"),
            evidence=("`parameters()` returns a generator: after one loop over it nothing is left",),
            remedies=(Remedy(title=f"keep a list: `{name} = list(…)`"), Remedy(title="or call `parameters()` again")),
        )

    def _hidden(self, hidden: tuple[str, str, Location], showed: Location, run: Run) -> Diagnosis:
        name, kind, place = hidden
        return self.diagnose(
            headline=f"the model has 0 parameters: `{name}` is a plain {kind}, which hides its layers",
            confidence="proven",
            where=place,
            label=f"layers in a {kind} are not registered",
            also=also((showed, "the optimizer finds nothing"), but=place),
            culprit=Culprit(module=name, phase="setup"),
            evidence=_counts(run),
            remedies=(_registered(name, kind, place),),
        )

    def _nothing(self, showed: Location, run: Run) -> Diagnosis:
        return self.diagnose(
            headline="the optimizer was given no parameter",
            confidence="proven",
            where=showed,
            culprit=Culprit(phase="setup", op="optimizer"),
            evidence=_counts(run),
            remedies=(Remedy(title="pass the parameters of a model that has some: `model.parameters()`"),),
        )


def _registered(name: str, kind: str, place: Location) -> Remedy:
    if kind == "dict":
        return Remedy(title=f"write `self.{name} = nn.ModuleDict({{...}})`, with texts as keys")
    empty = place.source.split("#")[0].replace(" ", "").rstrip().endswith(("=[]", "=list()"))
    return Remedy(title=f"write `self.{name} = nn.ModuleList({'' if empty else '[...]'})`")


def _counts(run: Run) -> tuple[str, ...]:
    return tuple(
        f"`{m.name}` ({m.type}) has {m.parameters} parameters, {m.trainable} of them with `requires_grad`"
        for m in list(run.all(ModelAtCrash))[:3]
    )


def _used_up(code: Code, showed: Location) -> tuple[str, Location, Location] | None:
    """The generator variable, where it was made, and where it was walked before."""
    statement = code.statement(showed)
    calls = [n for n in (ast.walk(statement) if statement is not None else ()) if isinstance(n, ast.Call) and n.args]
    for call in calls:
        name = dotted(call.args[0]) if isinstance(call.args[0], ast.Name) else ""
        made = code.last_assignment(name, showed) if name else None
        if made is None or made.value is None or not _is_generator(made.value):
            continue
        used = _mention(code, name, made.location, showed)
        if used is not None:
            return name, made.location, used
    return None


def _is_generator(value: ast.expr) -> bool:
    return isinstance(value, ast.GeneratorExp) or (
        isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in _GENERATORS
    )


def _mention(code: Code, name: str, after: Location, before: Location) -> Location | None:
    tree = code.trees.get(before.file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Name) and node.id == name and after.line < node.lineno < before.line:
            return code.place(before.file, node)
    return None


def _hidden_layers(run: Run, code: Code) -> tuple[str, str, Location] | None:
    """What a model without parameters keeps its layers in: as it was seen, else `self.layers = [nn.Linear(…), …]`."""
    for seen in (held for model in run.all(ModelAtCrash) if model.parameters == 0 for held in model.hidden):
        if seen.where is not None:
            return seen.attribute, seen.container, seen.where
    empty = {m.type.rpartition(".")[2] for m in run.all(ModelAtCrash) if m.parameters == 0}
    layers = _classes_of_modules(code)
    for file, tree in code.trees.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Assign) or not _is_plain_container(node.value):
                continue
            target = node.targets[0]
            place = code.place(file, node)
            inside = place.function.partition(".")[0] in empty
            made = [dotted(n.func) for n in ast.walk(node.value) if isinstance(n, ast.Call)]
            makes = any(name[:3] == "nn." or name in layers for name in made)
            if inside and makes and isinstance(target, ast.Attribute):
                return target.attr, "list", place
    return None


def _is_plain_container(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return dotted(value.func) in ("list", "tuple", "dict", "set")
    return isinstance(value, (ast.List, ast.ListComp, ast.Tuple, ast.Dict, ast.DictComp, ast.Set))


def _classes_of_modules(code: Code) -> set[str]:
    """Classes of the user's own that are layers by their first base."""
    return {
        node.name
        for tree in code.trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and any(dotted(base).endswith("Module") for base in node.bases)
    }
