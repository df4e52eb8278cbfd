"""Follows the number that a layer was built with out of the functions that build it, to the call that handed it in."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchmedic.facts import LayerBuilt, Location, ModuleFact, Run
from torchmedic.rules.errors._following import constants_behind, passing_calls
from torchmedic.rules.errors._numbers import argument_of
from torchmedic.rules.errors._syntax import Code

Passing = tuple[Location, ast.Call, ast.expr]


@dataclass(frozen=True)
class Handed:
    """The call that passed a layer's setting into the function which builds it.

    `crossed` is the parameter that was given what is named like this one: the arguments are in another order. Of a
    function with several callers `call` is the one that was seen to build the layer, `value` what it passes.
    """

    where: Location
    parameter: str
    crossed: str = ""
    call: ast.Call | None = None
    value: ast.expr | None = None

    @property
    def is_seen(self) -> bool:
        return self.call is not None

    def label(self, number: int) -> str:
        if self.crossed:
            return f"`{self.parameter}` is passed as `{self.crossed}` here"
        return f"`{self.parameter}` is {number} here"

    def rewritten(self, number: int) -> tuple[str, str] | None:
        """The call as it is, and with another number; None where the number is not written in it."""
        if self.call is None or not isinstance(self.value, ast.Constant):
            return None
        other = ast.Constant(number)
        arguments = [other if a is self.value else a for a in self.call.args]
        keywords = [ast.keyword(k.arg, other if k.value is self.value else k.value) for k in self.call.keywords]
        return ast.unparse(self.call), ast.unparse(ast.Call(self.call.func, arguments, keywords))


def handed_at(run: Run, layer: ModuleFact | None, setting: str) -> Handed | None:
    """Where a layer's setting was handed in, if it is a parameter that serves this layer alone."""
    made = (b for b in run.all(LayerBuilt) if layer is not None and (b.path, b.type) == (layer.path, layer.type))
    built = next(made, None)
    if layer is None or built is None:
        return None
    code = Code.of(run)
    given = argument_of(code, built.location, layer, setting)
    return _followed(code, given, built.location, built.callers, layer.settings.get(setting, ""))


def _followed(
    code: Code, given: ast.expr | None, at: Location, callers: tuple[Location, ...], number: str
) -> Handed | None:
    bound = code.last_assignment(given.id, at) if isinstance(given, ast.Name) else None
    function = bound.node if bound is not None and bound.how == "argument" else None
    if not isinstance(given, ast.Name) or not isinstance(function, ast.FunctionDef) or bound is None:
        return None
    if sum(isinstance(n, ast.Name) and n.id == given.id for line in function.body for n in ast.walk(line)) != 1:
        return None
    calls = list(passing_calls(code, bound.location, function, given.id))
    chosen = calls[0] if len(calls) == 1 else _seen(calls, callers, number)
    if chosen is None:
        return None
    place, call, value = chosen
    crossed = _crossed(function, call, given.id, value)
    if crossed:
        return Handed(place, given.id, crossed)
    if len(calls) == 1:
        written = {at: value for at, value in constants_behind(code, value, place) if str(value) == number}
        return Handed(next(iter(written)), given.id) if len(written) == 1 else None
    return _followed(code, value, place, callers[1:], number) or Handed(place, given.id, call=call, value=value)


def _seen(calls: list[Passing], callers: tuple[Location, ...], number: str) -> Passing | None:
    """Of several calls of a function the one that built this layer; of several on its line, the one with its number."""
    line = (callers[0].file, callers[0].line) if callers else None
    there = [passing for passing in calls if (passing[0].file, passing[0].line) == line]
    fitting = [p for p in there if isinstance(p[2], ast.Constant) and str(p[2].value) == number]
    return (fitting if len(there) > 1 else there)[0] if len(fitting if len(there) > 1 else there) == 1 else None


def _crossed(function: ast.FunctionDef, call: ast.Call, name: str, value: ast.expr) -> str:
    """The other parameter of a call that is given a variable of this one's name."""
    if not isinstance(value, ast.Name) or value.id == name:
        return ""
    names = [a.arg for a in function.args.args if a.arg != "self"]
    passed = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords if k.arg)]
    return next((n for n, v in passed if n != name and isinstance(v, ast.Name) and v.id == name), "")
