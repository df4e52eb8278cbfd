"""Columns of text whose cells are numbers all the same: with marks between thousands, per cent, a currency, a unit."""

from __future__ import annotations

import re

from torchmedic.checkups.data.engine import Column, Table
from torchmedic.facts import Dressed

_LOOKED_AT = 1000
_NEARLY_ALL = 0.95
_FEWEST = 20
_NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_UNITS = (
    "kg|g|mg|µg|lbs?|oz|km|m|cm|mm|ft|in|inch|mi|l|ml|dl|ms|s|sec|secs|min|mins|h|hrs?|hours?|days?|years?|yrs?|"
    "°c|°f|k?hz|mhz|ghz|k?w|k?wh|k?pa|hpa|bar|mmhg|bpm|kb|mb|gb|tb|mg/dl|mmol/l|km/h|mph|kcal|usd|eur|gbp"
)
_FORMS = {
    "percent": re.compile(rf"{_NUMBER}\s?%"),
    "currency": re.compile(rf"[+-]?[$€£¥]\s?{_NUMBER}|{_NUMBER}\s?[$€£¥]"),
    "unit": re.compile(rf"{_NUMBER}\s?(?:{_UNITS})", re.IGNORECASE),
}
_THOUSANDS = re.compile(r"[+-]?([1-9]\d{0,2})(?:[,'\u00a0\u202f]\d{3})+(?:\.\d+)?")
_BELOW = re.compile(r"[+-]?\d{1,3}(?:\.\d+)?")
_LEAST_THOUSANDS = 0.05


def dressed_numbers(small: Table, twin: Column) -> Dressed | None:
    """What stands around the numbers of a column of text, where nearly all of its cells are such."""
    rows = small.query(f"SELECT {twin.sql} FROM {{t}} WHERE {twin.sql} IS NOT NULL LIMIT {_LOOKED_AT}")
    texts = [text for (said,) in rows if (text := str(said).strip())]
    if len(texts) < _FEWEST or not all(map(_is_short, texts[:_FEWEST])):
        return None
    for form, pattern in _FORMS.items():
        found = [text for text in texts if pattern.fullmatch(text)]
        if len(found) >= _NEARLY_ALL * len(texts):
            return Dressed(form=form, example=found[0])
    return _thousands(texts)


def _is_short(text: str) -> bool:
    return len(text) <= 24 and any(map(str.isdigit, text))


def _thousands(texts: list[str]) -> Dressed | None:
    """Marks between thousands. Lists of ids have groups of three as well, but all of them begin with three digits."""
    heads = {text: found for text in texts if (found := _THOUSANDS.fullmatch(text))}
    marked = sum(text in heads for text in texts)
    plain = sum(text not in heads and _BELOW.fullmatch(text) is not None for text in texts)
    lengths = {len(found[1]) for found in heads.values()} | ({0} if plain else set())
    if marked + plain < _NEARLY_ALL * len(texts) or marked < _LEAST_THOUSANDS * len(texts) or len(lengths) < 2:
        return None
    return Dressed(form="thousands", example=next(iter(heads)))
