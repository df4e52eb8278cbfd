"""The backward of the user's own autograd Function returns gradients that do not fit the inputs of its forward."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_COUNT = (
    r"function (?P<name>\w+)Backward returned an incorrect number of gradients "
    r"\(expected (?P<want>\d+), got (?P<got>\d+)\)"
)
_NOT_NONE = r"function (?P<name>\w+)Backward returned a gradient different than None at position (?P<at>\d+), but"
_SHAPE = (
    r"Function (?P<name>\w+)Backward returned an invalid gradient at index (?P<index>\d+) - got \[(?P<has>[\d, ]*)\] "
    r"but expected shape compatible with \[(?P<needs>[\d, ]*)\]"
)


@dataclass(frozen=True)
class _Written:
    """A Function as the script writes it: the inputs of its forward, and what its backward returns."""

    name: str
    inputs: tuple[str, ...]
    forward: Location | None = None
    returns: tuple[tuple[Location, ast.Return], ...] = ()


class GradientsUnlikeInputs(Rule):
    """A backward has to return one gradient, or None, for each input of the forward, in its shape."""

    code = "ERR100"
    name = "gradients-unlike-inputs"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`function …Backward returned …`, with the name of an `autograd.Function` of your own"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, _COUNT, _NOT_NONE, _SHAPE)
        if crash is None or found is None:
            return
        written = _function(Code.of(run), found["name"])
        if written is None and (crash.source != "text" or found.re.pattern == _SHAPE):
            return
        written = written or _Written(found["name"], ())
        if found.re.pattern == _COUNT:
            yield self._counted(crash, written, int(found["want"]), int(found["got"]))
        elif found.re.pattern == _NOT_NONE:
            yield self._needless(crash, written, int(found["at"]))
        else:
            yield self._misshapen(crash, written, found)

    def _counted(self, crash: Crash, written: _Written, want: int, got: int) -> Diagnosis:
        place, node = _fitting(written, got)
        where = place or user_line(crash)
        return self._told(
            crash,
            written,
            f"`{written.name}.backward` returns {_many(got)}, and `forward` has {want} inputs besides `ctx`",
            where,
            "" if place is None else f"{_many(got)}, not {want}",
            Remedy(
                title="return one gradient for each input, None for those that need none",
                diff=_completed(place, node, want, got),
            ),
        )

    def _needless(self, crash: Crash, written: _Written, at: int) -> Diagnosis:
        place, _ = _fitting(written, len(written.inputs))
        name = written.inputs[at - 1] if at <= len(written.inputs) else ""
        which = f"`{name}`" if name else f"input {at}"
        return self._told(
            crash,
            written,
            f"`{written.name}.backward` returns a gradient for {which}, which is not a tensor",
            place or user_line(crash),
            f"value {at} belongs to {which}" if place is not None else "",
            Remedy(title=f"return None in place {at}"),
        )

    def _misshapen(self, crash: Crash, written: _Written, found: re.Match[str]) -> Diagnosis:
        index = int(found["index"])
        name = written.inputs[index] if index < len(written.inputs) else ""
        which = f"`{name}`" if name else f"input {index + 1}"
        place, _ = _fitting(written, len(written.inputs))
        return self._told(
            crash,
            written,
            f"`{written.name}.backward` returns a gradient [{found['has']}] for {which}, which is [{found['needs']}]",
            place or user_line(crash),
            f"value {index + 1} belongs to {which}" if place is not None else "",
            Remedy(title=f"give it the shape of {which}: sum over what the forward had stretched"),
        )

    def _told(
        self, crash: Crash, written: _Written, headline: str, where: Location | None, label: str, cure: Remedy
    ) -> Diagnosis:
        listed = ", ".join(f"`{name}`" for name in written.inputs)
        return self.diagnose(
            headline=headline,
            confidence="proven",
            where=where,
            label=label,
            also=also((written.forward, "its inputs"), (user_line(crash), "the backward runs here"), but=where),
            culprit=Culprit(phase="backward", module=written.name),
            evidence=(f"`forward` takes {listed}",) if listed else (),
            remedies=(cure,),
        )


def _many(count: int) -> str:
    return "1 gradient" if count == 1 else f"{count} gradients"


def _function(code: Code, name: str) -> _Written | None:
    """The one class of this name that has a `backward`."""
    found = [
        (file, node)
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name == name
        if any(dotted(base).endswith("Function") for base in node.bases)
    ]
    if len(found) != 1:
        return None
    file, cls = found[0]
    methods = {m.name: m for m in cls.body if isinstance(m, ast.FunctionDef)}
    forward, backward = methods.get("forward"), methods.get("backward")
    if forward is None or backward is None:
        return None
    names = [a.arg for a in forward.args.args]
    # With `setup_context` the forward is not given the context.
    inputs = () if forward.args.vararg else tuple(names if "setup_context" in methods else names[1:])
    returns = [n for n in ast.walk(backward) if isinstance(n, ast.Return) and n.value is not None]
    return _Written(name, inputs, code.place(file, forward), tuple((code.place(file, r), r) for r in returns))


def _fitting(written: _Written, count: int) -> tuple[Location | None, ast.Return | None]:
    """The `return` with so many values; the only one, where none is counted so."""
    fits = [pair for pair in written.returns if _values(pair[1]) == count]
    chosen = fits[-1:] or (list(written.returns) if len(written.returns) == 1 else [])
    return chosen[0] if chosen else (None, None)


def _values(node: ast.Return) -> int:
    return len(node.value.elts) if isinstance(node.value, ast.Tuple) else 1


def _completed(place: Location | None, node: ast.Return | None, want: int, got: int) -> str | None:
    """The line with a None for each missing gradient; nothing where it is written over several lines or in brackets."""
    if place is None or node is None or node.lineno != node.end_lineno or not _values(node) == got < want:
        return None
    written = ast.unparse(node.value) if node.value is not None else ""
    bare = written[1:-1] if isinstance(node.value, ast.Tuple) else written
    return f"- {place.source.split('  #')[0].strip()}\n+ return {bare}{', None' * (want - got)}"
