"""A text that spells a number, used as a number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, NumberAsText, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._following import passed_as, written_under
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code

_COMPARED = r"'[<>]=?' not supported between instances of '(\w+)' and '(\w+)'"


class NumberAsTextRule(Rule):
    """A setting from a file, the command line or the environment that was never turned into a number."""

    code = "ERR064"
    name = "number-as-text"
    symptoms = (Symptom.CRASH,)
    tell_apart = "TypeError between 'str' and a number, and the text spells a number"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash, seen = crash_in(run), run.last(NumberAsText)
        line = user_line(crash) if crash is not None else None
        if crash is not None and line is not None and crash.source == "text":
            yield from self._told(crash, line)
        if crash is None or seen is None or line is None:
            return
        code, name = Code.of(run), seen.setting or seen.name
        where = seen.written or _option(code, name) or _spelt(code, name, seen.text) or seen.handed or line
        yield self.diagnose(
            headline=f"`{name}` is the text `{seen.text!r}`, where a number is needed",
            confidence="proven",
            where=where,
            label="text, not a number" if where != line else "",
            also=also(
                (_elsewhere(seen.handed, line), f"given on as `{seen.name}` here"),
                (line, "used as a number here"),
                but=where,
            ),
            culprit=Culprit(phase="setup", field=name, tensor=name),
            evidence=tuple(_evidence(seen)),
            remedies=tuple(_remedies(seen, where, seen.handed or line)),
        )

    def _told(self, crash: Crash, line: Location) -> Iterator[Diagnosis]:
        """Of a pasted text: the message says that a text is compared with a number, the last line with which name."""
        kinds = said(crash, _COMPARED)
        if kinds is None or "str" not in kinds.groups() or not set(kinds.groups()) & {"int", "float"}:
            return
        names = re.search(r"([\w.]+) ?[<>]=? ?([\w.]+)", crash.frames[-1].location.source)
        name = names[1 + kinds.groups().index("str")] if names is not None else ""
        yield self.diagnose(
            headline=f"`{name}` is a text, where a number is needed" if name else "a text is compared with a number",
            confidence="likely",
            where=line,
            culprit=Culprit(phase="setup", field=name or None, tensor=name or None),
            remedies=(
                Remedy(title=f"turn it into a number where it is read: `float({name or '…'})`"),
                Remedy(
                    title="write `3.0e-4` in a YAML file: PyYAML takes `3e-4` for a text",
                    detail="an option of `argparse` needs `type=float`",
                ),
            ),
        )


def _elsewhere(place: Location | None, line: Location) -> Location | None:
    return place if place is not None and (place.file, place.line) != (line.file, line.line) else None


def _option(code: Code, name: str) -> Location | None:
    """The option of an argument parser that has no `type`."""
    for place, call in code.calls("add_argument"):
        words = [a.value for a in call.args if isinstance(a, ast.Constant)]
        is_it = any(str(word).lstrip("-").replace("-", "_") == name for word in words)
        if is_it and not any(k.arg in ("type", "action") for k in call.keywords):
            return place
    return None


def _spelt(code: Code, name: str, text: str) -> Location | None:
    given = [*written_under(code, name), *passed_as(code, name)]
    fits = [place for place, value in given if isinstance(value, ast.Constant) and value.value == text]
    return fits[0] if len(fits) == 1 else None


def _is_yaml(seen: NumberAsText) -> bool:
    return seen.written is not None and seen.written.file.endswith((".yaml", ".yml"))


def _evidence(seen: NumberAsText) -> Iterator[str]:
    if _is_yaml(seen) and "e" in seen.text.lower() and "." not in seen.text:
        yield f"PyYAML takes `{seen.text}` for a text: a number with an exponent needs a point there, as in `1.0e-3`"


def _remedies(seen: NumberAsText, where: Location, used: Location) -> Iterator[Remedy]:
    if _is_yaml(seen) and seen.written is not None:
        number = f"{float(seen.text):.1e}" if "e" in seen.text.lower() else seen.text
        old = seen.written.source.strip()
        bare = old.replace(f'"{seen.text}"', seen.text).replace(f"'{seen.text}'", seen.text)
        yield Remedy(
            title="write it so that YAML reads a number", diff=f"- {old}\n+ {bare.replace(seen.text, _pointed(number))}"
        )
    elif "add_argument" in where.source:
        yield Remedy(title=f"give the option a type: `add_argument(…, type={_kind(seen)})`")
    elif (unquoted := _unquoted(seen)) is not None:
        yield unquoted
    name = seen.setting or seen.name
    shown = name if re.search(rf"\b{re.escape(name)}\b", used.source) else "…"
    yield Remedy(title=f"turn it into a number where it is read: `{_kind(seen)}({shown})`")


def _kind(seen: NumberAsText) -> str:
    return "int" if seen.text.strip().lstrip("+-").isdigit() else "float"


def _unquoted(seen: NumberAsText) -> Remedy | None:
    """The line of a file without the quotes that make a text of the number."""
    old = seen.written.source.strip() if seen.written is not None else ""
    spelt = next((q for q in (f'"{seen.text}"', f"'{seen.text}'") if old.count(q) == 1), "")
    return (
        Remedy(title="write it without quotes", diff=f"- {old}\n+ {old.replace(spelt, seen.text)}") if spelt else None
    )


def _pointed(number: str) -> str:
    """
    >>> _pointed("1.0e-03")
    '1.0e-3'
    """
    base, mark, exponent = number.partition("e")
    return f"{base}{mark}{int(exponent)}" if mark else number
