"""The tuple that a recurrent layer or another call returns, used as one tensor."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Frame, LayerBuilt, LoaderAtCrash, Location, Run, Value
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._commas import trailing_comma, without_comma
from torchmedic.rules.errors._following import passed_by_callers
from torchmedic.rules.errors._origins import Trail
from torchmedic.rules.errors._reading import also, crash_in, layer_frame, said, shape, short_type, user_line
from torchmedic.rules.errors._syntax import Assignment, Code, dotted, dotted_names, path_to

_PATTERNS = (
    r"'(?P<kind>tuple|list)' object has no attribute '(?P<what>\w+)'",
    r"argument '\w+' \(position \d+\) must be Tensor, not (?P<kind>tuple|list)",
    r"must be Tensor, not (?P<kind>tuple|list)",
    r"unsupported operand type\(s\) for .*'(?P<kind>tuple)'",
    r"(?P<kind>tuple) indices must be integers or slices, not tuple",
)
_DEEPEST = 4
_RETURNS = {
    "LSTM": "`output, (h_n, c_n)`",
    "GRU": "`output, h_n`",
    "RNN": "`output, h_n`",
    "MultiheadAttention": "`attn_output, attn_weights`",
    "LSTMCell": "`h, c`",
}


class TupleAsTensor(Rule):
    """A call returned several things, and its result was used as if it were one tensor."""

    code = "ERR024"
    name = "tuple-as-tensor"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message says `tuple` where a tensor belongs"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, *_PATTERNS)
        line = user_line(crash) if crash is not None else None
        frame = crash.user_frame if crash is not None else None
        if crash is None or match is None or line is None or frame is None:
            return
        code = Code.of(run)
        comma = trailing_comma(code, line) if match["kind"] == "tuple" else None
        if comma is not None:
            yield self._with_comma(line, *comma)
            return
        value = _tuple(code, frame) or _given(crash)
        if value is None:
            return
        inner = None if frame.value(value.name) is value else _inner_call(run, code, line)
        if inner is not None:
            yield self._nested(line, value, *inner)
            return
        bound = _binding(code, value.name, line) if frame.value(value.name) is value else None
        handed = _handed_out(run, value, bound, line)
        if handed is not None:
            yield self._from_loader(value, line, *handed)
            return
        maker = _maker(run, bound)
        where = bound.location if bound is not None and bound.how == "assign" else line
        made = bound.value if bound is not None and bound.how == "assign" else None
        call = f"`{dotted(made.func)}`" if isinstance(made, ast.Call) else "the call"
        told = _RETURNS.get(maker, "")
        yield self.diagnose(
            headline=f"`{value.name}` is a tuple of {value.length} that {call} returned, not a tensor"
            if isinstance(made, ast.Call)
            else f"`{value.name}` is a {short_type(value.type)} of {value.length}, not a tensor",
            confidence="proven",
            where=where,
            label=f"{maker or call} returns {_parts(value)}" if isinstance(made, ast.Call) else "",
            also=also((line, "used as a tensor here"), but=where),
            culprit=Culprit(tensor=value.name, module=call.strip("`") if bound is not None else None, phase="forward"),
            evidence=(
                f"`{value.name}` holds {_parts(value)}",
                *((f"`{maker}` returns {told}",) if told else ()),
            ),
            remedies=(_cure(bound, value, maker),),
        )

    def _with_comma(self, line: Location, name: str, made: Location) -> Diagnosis:
        return self.diagnose(
            headline=f"`{name}` is a tuple of one: its assignment ends in a comma",
            confidence="proven",
            where=made,
            label="the comma makes the tuple",
            also=also((line, "used as the thing itself here"), but=made),
            culprit=Culprit(tensor=name, phase="forward"),
            remedies=(Remedy(title="drop the comma at the end of the line", diff=without_comma(made)),),
        )

    def _from_loader(self, value: Value, line: Location, loop: Location, made: Location | None) -> Diagnosis:
        """A loop over batches bound it: the samples themselves hold several things at this place."""
        where = made or loop
        return self.diagnose(
            headline=f"`{value.name}` is a {short_type(value.type)} of {value.length}, as the loader hands it out, "
            "not a tensor",
            confidence="proven",
            where=where,
            label="the sample holds several things at this place" if made is not None else "not taken apart here",
            also=also((loop, "not taken apart here"), (line, "used as a tensor here"), but=where),
            culprit=Culprit(tensor=value.name, phase="data", field=value.name),
            evidence=(f"`{value.name}` holds {_parts(value)}",),
            remedies=(
                Remedy(title=f"take it apart in the loop: `{_taken_apart(value)}` instead of `{value.name}`"),
                Remedy(title="or return the tensor alone, at its own place, from `__getitem__`"),
            ),
        )

    def _nested(self, line: Location, value: Value, call: str, maker: str) -> Diagnosis:
        return self.diagnose(
            headline=f"`{call}` returns a tuple of {value.length}, and it was used as one tensor",
            confidence="proven",
            where=line,
            mark=call if call in line.source else "",
            label=f"{maker} returns {_parts(value)}",
            culprit=Culprit(tensor=call, module=call.partition("(")[0], phase="forward"),
            evidence=(f"`{maker}` returns {_RETURNS[maker]}",),
            remedies=(Remedy(title=f"unpack it first: `{_RETURNS[maker].strip('`')} = {call}`, then use `output`"),),
        )


def _taken_apart(value: Value) -> str:
    """The name itself for the first tensor, `_` for the rest."""
    first = next((i for i, item in enumerate(value.items) if item.tensor is not None), 0)
    names = [value.name if i == first else "_" for i in range(value.length or len(value.items))]
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _handed_out(
    run: Run, value: Value, bound: Assignment | None, line: Location
) -> tuple[Location, Location | None] | None:
    """The loop over a loader that bound a name, here or in a caller, and the line that makes the samples' tuple."""
    code = Code.of(run)
    loop = _loop_over(code, value.name, bound, line)
    if loop is None:
        return None
    place, target, source, name = loop
    path = path_to(target, name) or ()
    made = Trail(code, lambda e: isinstance(e, (ast.Tuple, ast.List))).of_items(source, path, place)
    if made is None and not _is_loader(run, code, source):
        return None
    return place, made if made is not None and "__getitem__" in made.function else None


def _is_loader(run: Run, code: Code, source: ast.expr) -> bool:
    """Whether a loop runs over a loader: by what was alive, by what was assigned, or by its name."""
    names = {name.rpartition(".")[2] for name in dotted_names([source])}
    built = {
        dotted(target).rpartition(".")[2]
        for tree in code.trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if dotted(node.value.func).endswith("DataLoader")
        for target in node.targets
    }
    known = {loader.name for loader in run.all(LoaderAtCrash)} | built | {"DataLoader"}
    return bool(names & known) or any("loader" in name.lower() for name in names)


def _loop_over(
    code: Code, name: str, bound: Assignment | None, line: Location, depth: int = 0
) -> tuple[Location, ast.expr, ast.expr, str] | None:
    """Where a loop or a comprehension binds a name: its place, target and source, and the name there."""
    if bound is not None and bound.how == "loop" and isinstance(bound.node, ast.For) and bound.value is not None:
        return bound.location, bound.node.target, bound.value, name
    for part in (n for s in code.statements(line) for n in ast.walk(s) if isinstance(n, ast.comprehension)):
        if path_to(part.target, name) is not None:
            return line, part.target, part.iter, name
    if bound is None or bound.how != "argument" or not isinstance(bound.node, ast.FunctionDef) or depth > _DEEPEST:
        return None
    for place, given in passed_by_callers(code, bound.location, bound.node, name):
        above = code.last_assignment(given.id, place) if isinstance(given, ast.Name) else None
        found = _loop_over(code, given.id, above, place, depth + 1) if isinstance(given, ast.Name) else None
        if found is not None:
            return found
    return None


def _binding(code: Code, name: str, line: Location) -> Assignment | None:
    """The assignment behind a tuple: one that unpacks cannot have bound it, whatever branch it stands in."""
    last = code.last_assignment(name, line)
    whole = [a for a in code.assignments(name, line) if a.location.line < line.line and _binds_whole(a, name)]
    return last if last is None or _binds_whole(last, name) or not whole else whole[-1]


def _binds_whole(bound: Assignment, name: str) -> bool:
    targets = getattr(bound.node, "targets", None) or [getattr(bound.node, "target", None)]
    return bound.how != "assign" or any(t is not None and dotted(t) == name for t in targets)


def _inner_call(run: Run, code: Code, line: Location) -> tuple[str, str] | None:
    """A call of a layer that returns a tuple, written inside the failing expression."""
    for node in (n for statement in code.statements(line) for n in ast.walk(statement)):
        if isinstance(node, ast.Call) and (maker := _layer_type(run, dotted(node.func))) in _RETURNS:
            return ast.unparse(node), maker
    return None


def _tuple(code: Code, frame: Frame) -> Value | None:
    """The variable of the failing line that holds a tuple with a tensor in it."""
    words = code.names(frame.location) or tuple(re.findall(r"\w+", frame.location.source))
    return next((v for w in words if (v := frame.value(w)) is not None and _holds_tensors(v)), None)


def _given(crash: Crash) -> Value | None:
    """A tuple that the failing layer was given directly."""
    frame = layer_frame(crash)
    return next((v for v in frame.values if _holds_tensors(v)), None) if frame is not None else None


def _holds_tensors(value: Value) -> bool:
    return value.type in ("tuple", "list") and any(i.tensor is not None for i in value.items)


def _parts(value: Value) -> str:
    return ", ".join(
        shape(i.tensor.shape)
        if i.tensor is not None
        else f"a {short_type(i.type)} of {_parts(i)}"
        if i.items
        else i.type
        for i in value.items
    )


def _maker(run: Run, bound: Assignment | None) -> str:
    """The type of the layer whose call made the value: `self.lstm` is looked up among the layers built."""
    if bound is None or not isinstance(bound.value, ast.Call):
        return ""
    return _layer_type(run, dotted(bound.value.func))


def _layer_type(run: Run, call: str) -> str:
    name = call.removeprefix("self.")
    return next((short_type(b.type) for b in run.all(LayerBuilt) if b.path == name or b.path.endswith(f".{name}")), "")


def _cure(bound: Assignment | None, value: Value, maker: str) -> Remedy:
    rest = {"LSTM": "(h_n, c_n)", "GRU": "h_n", "RNN": "h_n", "MultiheadAttention": "_"}.get(maker)
    if bound is not None and bound.how == "assign" and bound.value is not None:
        source = bound.location.source.split("  #")[0].strip()
        others = rest or ", ".join("_" for _ in range((value.length or 2) - 1))
        new = source.replace(value.name, f"{value.name}, {others}", 1)
        return Remedy(title="unpack what the call returns", diff=f"- {source}\n+ {new}")
    return Remedy(title=f"take `{value.name}` apart before it is passed on, or pass its first item: `{value.name}[0]`")
