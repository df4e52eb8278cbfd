"""An attribute that does not exist, with the name that was meant or the line that should have set it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, short_type, user_line
from torchmedic.rules.errors._syntax import Assignment, Code

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
            yield self._never_set(code, owner, name, skipped[0], showed)
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

    def _never_set(self, code: Code, owner: str, name: str, skipped: Assignment, showed: Location) -> Diagnosis:
        guard = _guard(code, skipped.location)
        built = _built(code, owner)
        where = (built if guard else None) or showed
        condition = f"if {ast.unparse(guard.test)}" if guard is not None else ""
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
            evidence=(_why(skipped, condition, name),),
            remedies=tuple(_cures(owner, name, guard)),
        )


def _guard(code: Code, place: Location) -> ast.If | None:
    """The innermost `if` around an assignment."""
    tree = code.trees.get(place.file)
    around = [
        n
        for n in (ast.walk(tree) if tree is not None else ())
        if isinstance(n, ast.If) and n.lineno < place.line <= (n.end_lineno or 0)
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


def _cures(owner: str, name: str, guard: ast.If | None) -> Iterator[Remedy]:
    names = [n.id for n in ast.walk(guard.test) if isinstance(n, ast.Name)] if guard is not None else []
    if names and names[0] != "self":
        yield Remedy(title=f"build it with `{names[0]}` set: `{owner}(…, {names[0]}=True)`")
        yield Remedy(title=f"or use `{name}` only where it exists: `if hasattr(…, '{name}')`")
    else:
        yield Remedy(title=f"set `self.{name}` in `__init__`, whatever happens later")
