"""Notes how labels are turned into numbers, and tells where the same column was numbered anew for another split."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import weakref
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

from torchmedic.facts import EncodedAnew
from torchmedic.probes.data.encoded_columns import Encoding, are_two_splits, described
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import is_user_file, user_frame
from torchmedic.probes.source.making_lines import Place, line_made, scope_around
from torchmedic.probes.source.positions import expression_at
from torchmedic.record import Probe, Recorder, shielded
from torchmedic.redaction import redact

_MOST_NOTED = 60
_MOST_LABELS = 20_000
_LEAST_COMMON = 2
# A line that numbers the same column more often than there are splits does so for every group, window or fold.
_MOST_SPLITS = 4


class _Numberings(Probe):
    """Keeps what was numbered until a second training begins, which may number as it likes."""

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._noted: list[Encoding] = []
        self._is_over = False

    def remove(self) -> None:
        self._patches.restore()

    def on_optimizer(self, optimizer: Any) -> None:
        self._is_over |= self.recorder.step > 0

    def on_finish(self) -> None:
        # Without training nobody has learned the numbers.
        if self.recorder.step:
            for found in _anew(self._noted, self.recorder.step):
                self.recorder.observe(found)

    def _listens(self) -> bool:
        return not self._is_over and self.recorder.is_ours and len(self._noted) < _MOST_NOTED

    def _note(self, encoder: str, values: Any, column: str, labels: Iterable[Any], frame: FrameType | None) -> None:
        numbers = {label: i for i, label in zip(range(_MOST_LABELS), labels, strict=False)}
        if frame is not None and len(numbers) > 1:
            self._noted.append(described(encoder, values, column, numbers, frame))


class TableNumberings(_Numberings):
    """`factorize`, and the codes of categories, in pandas."""

    name = "table-numberings"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        import pandas
        from pandas.core.arrays.categorical import CategoricalAccessor

        self._watch_factorize(pandas, "pd.factorize")
        self._watch_factorize(pandas.Series, "factorize")
        self._watch_map(pandas.Series)
        self._watch_codes(CategoricalAccessor, lambda accessor: accessor._parent)
        self._watch_codes(pandas.Categorical, lambda values: values)

    def _watch_factorize(self, owner: Any, encoder: str) -> None:
        original = owner.factorize
        note = shielded(self)(self._note)

        @functools.wraps(original)
        def factorize(values: Any, *args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                made = original(values, *args, **kwargs)
            caller = sys._getframe(1)
            if self._listens() and is_user_file(caller.f_code.co_filename):
                note(encoder, values, _name_of(values), list(made[1]), caller)
            return made

        self._patches.replace(owner, "factorize", factorize)

    def _watch_map(self, owner: Any) -> None:
        original = owner.map
        note = shielded(self)(self._note_map)

        @functools.wraps(original)
        def mapped(values: Any, *args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                made = original(values, *args, **kwargs)
            caller, given = sys._getframe(1), next(iter((*args, *kwargs.values())), None)
            if isinstance(given, dict) and self._listens() and is_user_file(caller.f_code.co_filename):
                note(values, given, caller)
            return made

        self._patches.replace(owner, "map", mapped)

    def _note_map(self, values: Any, numbers: dict[Any, Any], frame: FrameType) -> None:
        """Labels counted from 0 or from 1; other numbers are codes that mean something, or counts of the rows."""
        if not 1 < len(numbers) <= _MOST_LABELS or not all(type(number) is int for number in numbers.values()):
            return
        if sorted(numbers.values()) not in (list(range(len(numbers))), list(range(1, len(numbers) + 1))):
            return
        noted = described("map", values, _name_of(values), dict(numbers), frame)
        made = line_made(_given_to_map(frame))
        if made is not None and "to_dict(" not in made.source:  # ranks and counts that were computed from the rows
            noted.trail = (made, *noted.trail[1:])
            self._noted.append(noted)

    def _watch_codes(self, owner: Any, categorical: Callable[[Any], Any]) -> None:
        original = inspect.getattr_static(owner, "codes")
        note = shielded(self)(self._note)

        def codes(values: Any) -> Any:
            caller = sys._getframe(1)
            if self._listens() and is_user_file(caller.f_code.co_filename):
                column = getattr(values, "_name", None)
                note(".codes", values, _plain(column), list(categorical(values).categories), caller)
            with frame_hidden:
                return original.__get__(values)

        self._patches.replace(owner, "codes", property(codes, doc=original.__doc__))


class EncoderNumberings(_Numberings):
    """Encoders of scikit-learn; one that numbers other rows too, by `transform`, is what splits should share."""

    name = "encoder-numberings"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._fitted: weakref.WeakKeyDictionary[Any, tuple[int, list[Encoding]]] = weakref.WeakKeyDictionary()
        from sklearn.preprocessing import LabelEncoder, OrdinalEncoder

        for owner, name in ((LabelEncoder, "fit"), (LabelEncoder, "fit_transform"), (OrdinalEncoder, "fit")):
            self._watch(owner, name, shielded(self)(self._note_fit))
        for owner in (LabelEncoder, OrdinalEncoder):
            self._watch(owner, "transform", shielded(self)(self._note_use))

    def _watch(self, owner: Any, name: str, note: Callable[[Any, Any], None]) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def watched(encoder: Any, *args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                made = original(encoder, *args, **kwargs)
            if self._listens():
                note(encoder, next(iter((*args, *kwargs.values()))))  # `fit(X=…)` for one, `fit(y=…)` for the other
            return made

        self._patches.replace(owner, name, watched)

    def _note_fit(self, encoder: Any, values: Any) -> None:
        before = len(self._noted)
        frame = user_frame(sys._getframe(1))
        if hasattr(encoder, "classes_"):
            self._note(type(encoder).__name__, values, _name_of(values), encoder.classes_.tolist(), frame)
        elif getattr(encoder, "categories", None) == "auto":
            names = list(getattr(encoder, "feature_names_in_", ()))
            for i, labels in enumerate(encoder.categories_):
                column = _plain(names[i]) if names else f"column {i}"
                self._note(type(encoder).__name__, values, column, labels.tolist(), frame)
        self._fitted[encoder] = (len(values), self._noted[before:])

    def _note_use(self, encoder: Any, values: Any) -> None:
        rows, made = self._fitted.get(encoder, (len(values), []))
        if len(values) != rows:
            for encoding in made:
                encoding.is_shared = True


def _given_to_map(frame: FrameType) -> Place | None:
    """The dict of the very call that runs: a line may have several."""
    text = expression_at(frame.f_code, frame.f_lasti)
    tree = parsed(frame.f_code.co_filename)
    for call in ast.walk(tree) if tree is not None else ():
        if not isinstance(call, ast.Call) or called_name(call) != "map" or not call.args or tree is None:
            continue
        if call.lineno <= (frame.f_lineno or 0) <= (call.end_lineno or 0) and _is_text_of(call, text):
            return Place(frame.f_code.co_filename, scope_around(tree, call), call.args[0])
    return None


def _is_text_of(node: ast.expr, text: str) -> bool:
    try:
        return ast.unparse(node) == ast.unparse(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError:
        return False


def _name_of(values: Any) -> str:
    return _plain(getattr(values, "name", None))


def _plain(name: Any) -> str:
    return name if isinstance(name, str) else ""


def _anew(noted: list[Encoding], step: int) -> list[EncodedAnew]:
    """For each column the first pair of numberings that disagree."""
    found: dict[str, EncodedAnew] = {}
    own = [encoding for encoding in noted if not encoding.is_shared]
    for i, second in enumerate(own):
        alike = [one for one in own if (one.where, one.column) == (second.where, second.column)]
        if len(alike) > _MOST_SPLITS:
            continue
        for first in own[:i]:
            is_other = "map" in (first.encoder, second.encoder) and first.where != second.where
            if first.column == second.column and not is_other and are_two_splits(first, second):
                fact = _disagreement(first, second, step)
                if fact is not None:
                    found.setdefault(second.column, fact)
    return list(found.values())


def _disagreement(first: Encoding, second: Encoding, step: int) -> EncodedAnew | None:
    common = [label for label in first.numbers if label in second.numbers]
    differing = [label for label in common if first.numbers[label] != second.numbers[label]]
    if len(common) < _LEAST_COMMON or not differing:
        return None
    called = next((b for a, b in zip(first.trail, second.trail, strict=False) if a != b), None)
    return EncodedAnew(
        step=step,
        where=second.where,
        first_at=first.where,
        called=called if called != second.where else None,
        encoder=second.encoder,
        column=second.column,
        tables=(first.table_name, second.table_name),
        label=redact(str(differing[0])),
        numbers=(first.numbers[differing[0]], second.numbers[differing[0]]),
        labels=(len(first.numbers), len(second.numbers)),
        differing=len(differing),
        common=len(common),
    )
