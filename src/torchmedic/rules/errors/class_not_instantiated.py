"""A class used where an instance of it belongs: `ToTensor` without its parentheses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TypeGuard

from torchmedic.facts import Crash, Location, Run, Value
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, short_type, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_LONGEST_ARGUMENTS = 24
_USUAL_INPUTS = ("x", "h", "z", "out", "output", "inputs", "hidden", "logits")


class ClassNotInstantiated(Rule):
    """A class object sat in a variable or a list and was called like an instance."""

    code = "ERR045"
    name = "class-not-instantiated"
    symptoms = (Symptom.CRASH,)
    tell_apart = "TypeError or AttributeError about a class whose name stands without parentheses in the script"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or crash.type_name not in ("TypeError", "AttributeError", "RuntimeError", "ValueError"):
            return
        code = Code.of(run)
        settings = _built_with_tensors(code, crash) or _result_built(code, crash)
        if settings is not None:
            yield self._built(crash, *settings)
            return
        for held in _called_classes(crash):
            bare = _bare(code, held.text.rpartition(".")[2])
            if bare is None:
                continue
            name, place = bare
            showed = user_line(crash)
            yield self.diagnose(
                headline=f"`{name}` is passed as a class, not as an instance",
                confidence="proven",
                where=place,
                mark=name,
                label="no parentheses",
                also=also((showed, "the class is called here and makes a new object instead"), but=place),
                culprit=Culprit(module=held.text, phase="setup"),
                evidence=(
                    f"`{held.name}` holds the class `{held.text}`: calling it runs `{held.text}.__init__`, "
                    "not the work of an instance",
                ),
                remedies=(Remedy(title=f"write `{name}()`"),),
            )
            return

    def _built(self, crash: Crash, place: Location, call: ast.Call) -> Diagnosis:
        """A layer made with the data as its settings: `nn.CrossEntropyLoss(pred, y)`."""
        name = ast.unparse(call.func)
        given = ", ".join(ast.unparse(part) for part in [*call.args, *call.keywords])
        data = given if len(given) < _LONGEST_ARGUMENTS else "…"
        return self.diagnose(
            headline=f"`{name}({data})` builds a layer of the data, and does not call it",
            confidence="proven",
            where=place,
            mark=f"{name}(",
            label="one pair of parentheses: this is the constructor",
            also=also((user_line(crash), "the layer itself arrives here, not its result"), but=place),
            culprit=Culprit(module=name, phase="forward"),
            remedies=(
                Remedy(title=f"build it, then call it: `{name}()({data})`"),
                Remedy(title=f"better, build it once in advance, and call that: `layer = {name}()`, `layer(…)`"),
            ),
        )


def _built_with_tensors(code: Code, crash: Crash) -> tuple[Location, ast.Call] | None:
    """The call on the failing line whose constructor, of a class of torch, died of results that it was given."""
    frames = list(crash.frames)
    last = max((i for i, f in enumerate(frames) if f.is_user), default=-1)
    inside = frames[last + 1 : last + 2]
    if last < 0 or not inside or inside[0].location.function.rpartition(".")[2] != "__init__":
        return None
    maker = next((v.type for v in inside[0].values if v.name == "self"), "")
    computed = any(v.tensor is not None and v.tensor.grad_fn for v in inside[0].values)
    calls = [n for s in code.statements(frames[last].location) for n in ast.walk(s) if _makes(n, short_type(maker))]
    if not (maker.startswith("torch.nn.") and computed) or len(calls) != 1:
        return None
    return code.place(frames[last].location.file, calls[0]), calls[0]


def _result_built(code: Code, crash: Crash) -> tuple[Location, ast.Call] | None:
    """The one call that makes, of something computed, the layer that stands where a tensor was expected."""
    found = said(crash, r"must be Tensor, not (?P<kind>\w+)", r"'(?P<kind>\w+)' object has no attribute")
    held = [v.type for f in crash.frames for v in f.values if v.type.startswith("torch.nn.modules.")]
    if found is None or found["kind"] not in {short_type(kind) for kind in held}:
        return None
    calls = [
        (code.place(file, node), node)
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if _makes(node, found["kind"]) and any(_is_computed(part) for part in node.args)
    ]
    return calls[0] if len(calls) == 1 and not calls[0][0].function.endswith("__init__") else None


def _makes(node: ast.AST, kind: str) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and bool(kind) and dotted(node.func).rpartition(".")[2] == kind


def _is_computed(node: ast.expr) -> bool:
    """Not a plain setting: the result of a call, or the input of a function."""
    return isinstance(node, (ast.Call, ast.BinOp)) or (isinstance(node, ast.Name) and node.id in _USUAL_INPUTS)


def _called_classes(crash: Crash) -> Iterator[Value]:
    """Variables that hold a class and are called on the line where their frame stands."""
    for frame in reversed(crash.frames):
        for value in frame.values:
            called = re.search(rf"\b{re.escape(value.name)}\(", frame.location.source)
            if value.type.startswith("class ") and called and value.name != value.text and value.name != "cls":
                yield value


def _bare(code: Code, name: str) -> tuple[str, Location] | None:
    """The one mention of the class as a value: an item of a list, an argument, the right side of `=`."""
    found: list[tuple[str, Location]] = []
    for file, tree in code.trees.items():
        for node in ast.walk(tree):
            for value in _values(node):
                if isinstance(value, (ast.Name, ast.Attribute)) and dotted(value).rpartition(".")[2] == name:
                    found.append((dotted(value), code.place(file, value)))
    return found[0] if len({place.line for _, place in found}) == 1 else None


def _values(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, (ast.List, ast.Tuple)):
        return node.elts
    if isinstance(node, ast.Call):
        return (
            [*node.args, *(k.value for k in node.keywords)] if dotted(node.func) not in ("isinstance", "super") else []
        )
    if isinstance(node, ast.Assign):
        return [node.value]
    return []
