"""Looks at what `pandas.to_numeric` makes NaN by the user's wish: numbers in a form that it does not read."""

from __future__ import annotations

import ast
import functools
import re
import unicodedata
from typing import Any

from torchmedic.facts import Location, NumbersLost
from torchmedic.late import late_dataclass
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import user_location
from torchmedic.probes.source.sources import user_files
from torchmedic.record import Probe, Recorder, shielded

_LEAST_ROWS, _MOST_TEXTS = 20, 50_000
_LEAST_LOST, _LEAST_SHARE = 5, 0.01
_MOST_EXAMPLES, _MOST_COLUMNS = 3, 60
_CURRENCIES = "$€£¥₹₩"
_GROUPED = re.compile(r"\d{1,3}(?P<mark>[,'’ \u00a0\u202f.])\d{3}(?:(?P=mark)\d{3})*(?:[.,]\d+)?")
_COMMA = re.compile(r"\d+,\d+")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_AROUND = re.compile(rf"^[-+(\s]*[{_CURRENCIES}]?\s*|\s*[{_CURRENCIES}%]?[)\s]*$")
_SPEAKING_OF_MARKS = frozenset(
    ("replace", "sub", "translate", "maketrans", "strip", "lstrip", "rstrip", "split", "atof")
)


@late_dataclass(frozen=True)
class _Lost:
    """Numbers of a column that became NaN, with the marks in them that `to_numeric` does not read."""

    fact: NumbersLost
    marks: frozenset[str]


class LostNumbers(Probe):
    """What was found is told when training begins, unless the script reads the column again or takes the marks out."""

    name = "lost-numbers"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        import pandas

        self._patches = Patches()
        self._found: dict[str, _Lost] = {}
        original = pandas.to_numeric
        look = shielded(self)(self._look)

        @functools.wraps(original)
        def to_numeric(arg: Any, errors: Any = "raise", *args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                numbers = original(arg, errors, *args, **kwargs)
            if errors == "coerce" and self.recorder.is_ours and not self.recorder.step:
                look(arg, numbers, user_location())
            return numbers

        self._patches.replace(pandas, "to_numeric", to_numeric)

    def remove(self) -> None:
        self._patches.restore()

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.recorder.rest(self)
        known = _marks_taken_out() if self._found else set()
        for lost in self._found.values():
            if lost.marks - known:
                self.recorder.observe(lost.fact)
        self._found.clear()

    def _look(self, given: Any, numbers: Any, where: Location | None) -> None:
        if not hasattr(given, "dtype") or not hasattr(given, "notna") or len(given) < _LEAST_ROWS:
            return
        if getattr(given.dtype, "kind", "O") in "iufb":
            return
        column = str(getattr(given, "name", None) or "")
        texts = [str(text) for text in given[given.notna()].head(_MOST_TEXTS) if str(text).strip()]
        gone = given[given.notna() & numbers.isna()].head(_MOST_TEXTS)
        lost = [(text, marks) for text in map(str, gone) if (marks := marks_in(text))]
        if len(lost) < max(_LEAST_LOST, _LEAST_SHARE * len(texts)):
            # A second reading of the same column, in which what was lost is there.
            self._found.pop(column, None)
        elif len(self._found) < _MOST_COLUMNS:
            self._found[column] = _Lost(_fact(column, texts, lost, numbers, where), _common(lost))


def _fact(
    column: str, texts: list[str], lost: list[tuple[str, frozenset[str]]], numbers: Any, where: Any
) -> NumbersLost:
    kept = numbers.dropna()
    return NumbersLost(
        step=None,
        where=where,
        column=column,
        texts=len(texts),
        lost=len(lost),
        examples=tuple(dict.fromkeys(text.strip() for text, _ in lost))[:_MOST_EXAMPLES],
        marks=tuple(sorted(_common(lost))),
        highest=float(kept.max()) if len(kept) else None,
    )


def _common(lost: list[tuple[str, frozenset[str]]]) -> frozenset[str]:
    return frozenset(mark for _, marks in lost for mark in marks)


def marks_in(text: str) -> frozenset[str]:
    """What keeps a text from being read as the number that a person sees in it; nothing where it is none.

    >>> [sorted(marks_in(text)) for text in ("1,234.56", "$ 12", "(3,5)", "85 %", "１２", "NA", "12 kg", "2021-05-01")]
    [[','], ['$'], ['(', ','], ['%'], ['１'], [], [], []]
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    core = _AROUND.sub("", plain)
    grouped = _GROUPED.fullmatch(core)
    marks = {each for each in plain if each in _CURRENCIES + "%("}
    if grouped is not None:
        marks.add(grouped["mark"])
    elif _COMMA.fullmatch(core):
        marks.add(",")
    elif not _PLAIN.fullmatch(core):
        return frozenset()
    return frozenset(marks or ({text.strip()[0]} if plain != text.strip() else ()))


def _marks_taken_out() -> set[str]:
    """The characters of texts that the user's files replace, or tell a reader of."""
    found: set[str] = set()
    for file in user_files():
        for node in ast.walk(parsed(file) or ast.Module([], [])):
            if isinstance(node, ast.Call) and called_name(node) in _SPEAKING_OF_MARKS:
                texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
                found |= {character for text in texts for character in text}
    return found
