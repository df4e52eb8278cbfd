"""A call whose arguments do not fit the signature."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, FailedCall, Location, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._following import written_under
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._removed import parameter_instead_of
from torchmedic.rules.errors._syntax import Code

_WORDS = (
    r"(?P<name>[\w.<>]+)\(\) missing \d+ required (?:positional|keyword-only) arguments?: (?P<missing>.+)",
    r"(?P<name>[\w.<>]+)\(\) takes (?P<takes>.+?) positional arguments? but (?P<given>\d+) (?:was|were) given",
    r"(?P<name>[\w.<>]+)\(\) got an unexpected keyword argument '(?P<keyword>\w+)'",
    r"(?P<name>[\w.<>]+)\(\) got multiple values for argument '(?P<twice>\w+)'",
)


class WrongArguments(Rule):
    """A TypeError about missing, surplus or unknown arguments."""

    code = "ERR046"
    name = "wrong-arguments"
    symptoms = (Symptom.CRASH,)
    tell_apart = "TypeError: `missing … required`, `takes … but … were given`, `unexpected keyword`, `multiple values`"
    needs = (Crash,)
    fallback = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, *_WORDS)
        if crash is None or crash.type_name != "TypeError" or found is None:
            return
        called = user_line(crash)
        name = found.group("name").replace("<locals>.", "")
        call = run.last(FailedCall) or _from_source(run, name)
        lacks_self = call is not None and call.lacks_self and call.defined is not None
        written = _written(Code.of(run), _group(found, "keyword"), called)
        where = call.defined if call is not None and lacks_self else written or called
        yield self.diagnose(
            headline=_headline(name, found, call, lacks_self),
            confidence="proven",
            where=where,
            mark=f"{call.callee}(" if call is not None and not lacks_self and written is None else "",
            label="the first parameter receives the object itself"
            if lacks_self
            else f"`{_group(found, 'keyword')}` is written here"
            if written is not None
            else "",
            also=_also(call, called, where),
            culprit=Culprit(module=name),
            evidence=tuple(_evidence(name, call)),
            remedies=(Remedy(title=_cure(found, call, lacks_self)),),
        )


def _written(code: Code, keyword: str, called: Location | None) -> Location | None:
    """The key of a dictionary that a call with `**` unpacked into a parameter."""
    if not keyword or called is None or "**" not in called.source:
        return None
    lines = {(place.file, place.line): place for place, _ in written_under(code, keyword)}
    return next(iter(lines.values())) if len(lines) == 1 else None


def _from_source(run: Run, name: str) -> FailedCall | None:
    """What the script's text tells of the function, where the call itself could not be read."""
    cls, _, method = name.rpartition(".")
    code = Code.of(run)
    found = code.function(method, cls.rpartition(".")[2])
    if found is None:
        return None
    file, node = found
    parameters = tuple(a.arg for a in node.args.args)
    static = any(ast.unparse(d) == "staticmethod" for d in node.decorator_list)
    return FailedCall(
        callee=method,
        name=name,
        signature=f"({ast.unparse(node.args)})",
        parameters=parameters,
        defined=code.place(file, node),
        lacks_self=bool(cls) and not static and parameters[:1] not in (("self",), ("cls",)),
    )


def _group(found: re.Match[str], name: str) -> str:
    return found.groupdict().get(name) or ""


def _headline(name: str, found: re.Match[str], call: FailedCall | None, lacks_self: bool) -> str:
    if lacks_self:
        return f"method `{name}` has no `self`"
    by = f" (called as `{call.callee}`)" if call is not None and call.callee != name and len(call.callee) < 20 else ""
    if _group(found, "missing"):
        return f"`{name}` was called without {_ticked(_group(found, 'missing'))}{by}"
    if _group(found, "keyword"):
        return f"`{name}` has no parameter `{_group(found, 'keyword')}`{by}"
    if _group(found, "twice"):
        return f"`{name}` got `{_group(found, 'twice')}` twice{by}"
    return f"`{name}` takes {_group(found, 'takes')} positional arguments, {_group(found, 'given')} were given{by}"


def _ticked(listed: str) -> str:
    return re.sub(r"'(\w+)'", r"`\1`", listed)


def _also(call: FailedCall | None, called: Location | None, where: Location | None) -> tuple[Also, ...]:
    defined = call.defined if call is not None else None
    return also((defined, "the signature"), (called, "called here"), but=where)


def _evidence(name: str, call: FailedCall | None) -> Iterator[str]:
    if call is None:
        return
    if call.signature:
        yield f"the signature is `{name.rpartition('.')[2]}{call.signature}`"
    if not call.given and not call.keywords:
        return
    given = f"{call.given} positional" + (f" and the keywords {', '.join(call.keywords)}" if call.keywords else "")
    yield f"`{call.callee}(…)` gives {given}; a method gets its object as one more, `self`"


def _cure(found: re.Match[str], call: FailedCall | None, lacks_self: bool) -> str:
    if lacks_self:
        return "add `self` as the first parameter of the method"
    if _group(found, "missing"):
        return f"pass {_ticked(_group(found, 'missing'))} in the call, or give it a default in the signature"
    if instead := parameter_instead_of(_group(found, "name"), _group(found, "keyword")):
        return f"the parameter was there in earlier versions; now write {instead}"
    if _group(found, "keyword"):
        known = ", ".join(f"`{p}`" for p in call.parameters[:10]) if call is not None else ""
        return "use a parameter that exists" + (f": {known}" if known else "")
    if _group(found, "twice"):
        return f"pass `{_group(found, 'twice')}` once: by position or by name"
    return "leave out the surplus arguments, or add parameters for them"
