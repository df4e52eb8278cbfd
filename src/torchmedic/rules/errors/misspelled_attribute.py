"""An attribute that does not exist, with the name that was meant or the line that should have set it."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, short_type, user_line
from torchmedic.rules.errors._syntax import Assignment, Code, dotted

_WORDS = (
    r"'(?P<owner>[\w.]+)' object has no attribute '(?P<name>\w+)'",
    r"module '(?P<owner>[\w.]+)' has no attribute '(?P<name>\w+)'",
    r"type object '(?P<owner>[\w.]+)' has no attribute '(?P<name>\w+)'",
)
# Values of these types have their own rules: a tuple that should have been unpacked, a None.
_OTHERS = {"tuple", "list", "dict", "NoneType", "str", "int", "float"}


class MisspelledAttribute(Rule):
    """AttributeError with a near match, or with a line of the class that sets the attribute but did not run."""

    code = "ERR043"
    name = "misspelled-attribute"
    symptoms = (Symptom.CRASH,)
    tell_apart = "AttributeError on a module, a tensor or a package, where a name close by exists"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, *_WORDS)
        if crash is None or crash.type_name != "AttributeError" or found is None:
            return
        owner, name = short_type(found.group("owner")), found.group("name")
        showed = user_line(crash)
        code = Code.of(run)
        skipped = [a for a in code.attribute_assignments(name) if owner in a.location.function.split(".")]
        if showed is None or name.startswith("__") or "Module.__init__" in crash.message:
            return
        if skipped:
            yield self._never_set(crash, code, owner, name, skipped, showed)
        elif crash.near_names and owner not in _OTHERS:
            yield self._misspelt(found.group("owner"), name, crash, showed)

    def _misspelt(self, owner: str, name: str, crash: Crash, showed: Location) -> Diagnosis:
        near = crash.near_names[0]
        return self.diagnose(
            headline=f"`{owner}` has no `{name}`, the nearest name is `{near}`",
            confidence="proven",
            where=showed,
            mark=f".{name}",
            label=f"`{near}`?",
            culprit=Culprit(module=owner, tensor=name, examples=crash.near_names),
            evidence=(f"names close to `{name}`: " + ", ".join(f"`{n}`" for n in crash.near_names),),
            remedies=(Remedy(title=f"write `{near}`"),),
        )

    def _never_set(
        self, crash: Crash, code: Code, owner: str, name: str, every: list[Assignment], showed: Location
    ) -> Diagnosis:
        skipped = every[0]
        guard = _guard(code, skipped.location)
        tests = _tests(guard, every)
        built = _built(code, owner)
        where = (built if guard else None) or showed
        condition = f"if {' or '.join(map(ast.unparse, tests))}" if guard is not None else ""
        return self.diagnose(
            headline=f"`{owner}` has no `{name}`: the line that sets it did not run",
            confidence="proven",
            where=where,
            label=f"built so that `{condition}` is false" if where is built and condition else "not set when this ran",
            also=also(
                (
                    skipped.location,
                    f"sets it only below `{condition}`" if condition else "sets it, in a method not called yet",
                ),
                (showed, "needs it"),
                but=where,
            ),
            culprit=Culprit(module=owner, tensor=name, phase="setup"),
            evidence=(_why(skipped, condition, name), *(_absent_key(code, crash, built) if built is not None else ())),
            remedies=tuple(_cures(owner, name, tests)),
        )


def _guard(code: Code, place: Location) -> ast.If | None:
    """The innermost `if` around an assignment."""
    tree = code.trees.get(place.file)
    chained = {
        id(n.orelse[0]) for n in (ast.walk(tree) if tree else ()) if isinstance(n, ast.If) and len(n.orelse) == 1
    }
    around = [
        n
        for n in (ast.walk(tree) if tree is not None else ())
        if isinstance(n, ast.If) and id(n) not in chained and n.lineno < place.line <= (n.end_lineno or 0)
    ]
    return max(around, key=lambda n: n.lineno, default=None)


def _built(code: Code, owner: str) -> Location | None:
    """The one place where an object of the class is made."""
    calls = [place for place, _ in code.calls(owner) if owner not in place.function.split(".")]
    return calls[0] if len(calls) == 1 else None


def _why(skipped: Assignment, condition: str, name: str) -> str:
    if condition:
        return f"`{name}` is set at {skipped.location} only below `{condition}`"
    method = skipped.location.function.rpartition(".")[2]
    return f"`{name}` is set at {skipped.location}, in `{method}`, which had not run yet"


def _tests(guard: ast.If | None, every: list[Assignment]) -> list[ast.expr]:
    """The conditions of all branches, `elif` too, that set the attribute."""
    lines = [each.location.line for each in every]
    tests = []
    while guard is not None:
        if any(n.lineno <= line <= (n.end_lineno or 0) for n in guard.body for line in lines):
            tests.append(guard.test)
        following = guard.orelse[0] if len(guard.orelse) == 1 else None
        guard = following if isinstance(following, ast.If) else None
    return tests


def _absent_key(code: Code, crash: Crash, built: Location) -> Iterator[str]:
    """A `.get` with a default, where the object is built, of a key that the dictionary does not have."""
    for node in (n for statement in code.statements(built) for n in ast.walk(statement)):
        asked = (
            node.args[0] if isinstance(node, ast.Call) and dotted(node.func).endswith(".get") and node.args else None
        )
        if not isinstance(node, ast.Call) or not isinstance(asked, ast.Constant):
            continue
        owner = dotted(node.func).removesuffix(".get")
        held = next((v for f in crash.frames if f.is_user and (v := f.value(owner)) is not None and v.items), None)
        keys = [item.name for item in held.items] if held is not None else []
        if held is not None and held.length == len(keys) and asked.value not in keys:
            near = difflib.get_close_matches(str(asked.value), keys, n=1)
            close = f"; the nearest key is `'{near[0]}'`" if near else ""
            yield f"`{owner}` has no key `{asked.value!r}`, so `{ast.unparse(node)}` gives the default{close}"


def _cures(owner: str, name: str, tests: list[ast.expr]) -> Iterator[Remedy]:
    names = [n.id for test in tests for n in ast.walk(test) if isinstance(n, ast.Name)]
    compared = [test for test in tests if isinstance(test, ast.Compare)]
    if compared and names and names[0] != "self":
        values = " or ".join(f"`{ast.unparse(test.comparators[0])}`" for test in compared)
        yield Remedy(title=f"build it so that a branch is taken: with `{names[0]}` {values}")
        yield Remedy(title=f"or set `self.{name}` in an `else` too, for instance to `nn.Identity()`")
    elif names and names[0] != "self":
        yield Remedy(title=f"build it with `{names[0]}` set: `{owner}(…, {names[0]}=True)`")
        yield Remedy(title=f"or use `{name}` only where it exists: `if hasattr(…, '{name}')`")
    else:
        yield Remedy(title=f"set `self.{name}` in `__init__`, whatever happens later")
