"""Finds the template that an English sentence was made from, and fills in the translated one."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from torchmedic.translation.files import Entry
from torchmedic.translation.typesetting import tidy

_PLACE = re.compile(r"\{(\w+)\}")
_CHOICE = re.compile(r"\{([a-z ]*(?:\|[a-z ]*)+)\}")
# What stands in a place has its code whole, and closes the brackets that it opens.
_VALUE = r"(?:`[^`]*`|\((?:\([^()]*\)|[^()])*\)|\[[^\[\]]*\]|[^`()\[\]])*?"
_TOKEN = re.compile(r"[A-Za-z]+")
_EDGE = re.compile(r"^([\s,;:.]*\(?)(.*?)(\)?[\s,;:.]*)$", re.DOTALL)
_JOINTS = re.compile(r"(; |, and |, | and | or | -> |: )")
_WIDE = {", and ": "，", ", ": "，", "; ": "；", ": ": "：", " and ": "和", " or ": "或", " -> ": " -> "}
_FULL = str.maketrans({".": "。", ",": "，", ";": "；", ":": "：", "(": "（", ")": "）"})
_PROSE = re.compile(r"(?<![\w./:-])[A-Za-z][a-z']+ [a-z][a-z']+(?![\w(=./])")
_JOINED = re.compile(r": |[,;:]$")
_SEVERAL = re.compile(r"[,;] [a-z]|: | and \w| \(|[,;:]$")
_PLAIN_WORD = re.compile(r"(?<![\w./\-])[a-z]{2,}(?![\w./(=\-])")
# Words that Chinese users leave in English.
_TERMS = frozenset(
    "cpu cuda mps lr rank dim epoch batch softmax sigmoid logits logit worker token id dtype lambda dict list "  # noqa: SIM905
    "tuple str int float bool bytes autocast inf nan std var bfloat half none true false sample".split()
)
_RAISED = re.compile(r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit): ")
_DEEPEST = 8
_REMEMBERED = 1 << 14
_MOST_JOINTS = 20  # in one phrase
_LONGEST = 1500  # characters: no sentence of ours is so long, and what is quoted in it may be


class _Template:
    """An English template, compiled when a sentence first looks like it."""

    def __init__(self, english: str, translated: str) -> None:
        self.english, self.translated = english, translated
        bare = _without_code(_PLACE.sub("", _CHOICE.sub("", english)))
        self.weight = len(_PLACE.sub("", _CHOICE.sub("", english)))
        # `{0} in {1}` fits too much to be believed when what it leaves in its places is no phrase that is known.
        self.is_strong = len(re.findall(r"[A-Za-z]{2,}", bare)) > 2 or bool(re.match(r"[a-z]+ [a-z]+: \{", english))

    @property
    def fits_anything(self) -> bool:
        """`{0} {1} and {2} {3}`: a list tells that better."""
        words = _TOKEN.findall(_PLACE.sub("", self.english))
        return len(_PLACE.findall(self.english)) > 3 and len("".join(words)) < 4

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        parts, position, seen = [], 0, set()
        for place in re.finditer(rf"{_PLACE.pattern}|{_CHOICE.pattern}", self.english):
            parts.append(re.escape(self.english[position : place.start()]))
            if place.group(1) is None:
                parts.append(f"(?:{place.group(2)})")
            elif place.group(1) in seen:
                parts.append(f"(?P=_{place.group(1)})")
            else:
                seen.add(place.group(1))
                is_code = self.english[: place.start()].count("`") % 2
                parts.append(f"(?P<_{place.group(1)}>{'[^`]*' if is_code else _VALUE})")
            position = place.end()
        return re.compile("".join(parts) + re.escape(self.english[position:]), re.DOTALL)

    def read(self, sentence: str) -> dict[str, str] | None:
        """What stands in its places, if the sentence was made from it."""
        match = self.pattern.fullmatch(sentence)
        return {name[1:]: value for name, value in match.groupdict().items()} if match is not None else None

    def is_code(self, name: str) -> bool:
        return bool(self.english.split("{" + name + "}")[0].count("`") % 2)

    @functools.cached_property
    def neighbours(self) -> list[tuple[str, str]]:
        """Places with nothing but a space between them."""
        pairs = re.findall(r"\{(\w+)\}(?= \{(\w+)\})", self.english)
        return [pair for pair in pairs if not any(map(self.is_code, pair))]

    def filled(self, told: dict[str, str]) -> str:
        return _PLACE.sub(lambda place: told.get(place.group(1), place.group(0)), self.translated)


class Phrasebook:
    """The templates of one language, found by a word that a sentence must have to fit them."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        known = [entry for entry in entries if entry.translated]
        self.exact = {entry.english: entry.translated for entry in known}
        all_open = (
            _Template(e.english, e.translated) for e in known if _PLACE.search(e.english) or _CHOICE.search(e.english)
        )
        open_ones = [one for one in all_open if not one.fits_anything]
        common = Counter(word for one in open_ones for word in set(_whole_words(one.english)))
        # A sentence of many clauses asks for the same parts again and again.
        self.piece = functools.lru_cache(_REMEMBERED)(self._piece)
        self._whole = functools.lru_cache(_REMEMBERED)(self._find_whole)
        self._by_word: dict[str, list[_Template]] = {}
        for one in sorted(open_ones, key=lambda one: -one.weight):
            rarest = min(_whole_words(one.english), key=lambda word: (common[word], -len(word)), default="")
            self._by_word.setdefault(rarest, []).append(one)

    def said(self, sentence: str) -> str:
        """The sentence translated, or as it is."""
        if len(sentence) > _LONGEST or not _TOKEN.search(sentence):
            return sentence
        told = tidy(self.piece(sentence, _DEEPEST))
        return told if sentence[:1].isspace() else told.lstrip()

    def _piece(self, text: str, depth: int) -> str:
        """A sentence or a part of one; marks at its edges are kept aside. What an exception says is not ours."""
        if _RAISED.match(text):
            return text
        if not depth or not _TOKEN.search(_without_code(text)):
            return _listed(text)
        if text in self.exact:
            return self.exact[text]
        before, inner, after = _edges(text)
        found = self._whole(inner, depth)
        if found is None:
            parts = self._in_parts(inner, depth)
            is_clean = parts is not None and not has_prose(parts)
            found = parts if is_clean else self._whole(inner, depth, True) or parts
        return text if found is None else f"{before.translate(_FULL)}{found}{after.translate(_FULL)}"

    def _find_whole(self, text: str, depth: int, loosely: bool = False) -> str | None:
        """A phrase by the template with the most text of its own, which must leave no English behind.

        Loosely, a place may hold several phrases, and English if the template has some words of its own.
        """
        if text in self.exact:
            return self.exact[text]
        if depth <= 0:
            return None
        words = {*_TOKEN.findall(text), ""}
        candidates = [one for word in words for one in self._by_word.get(word, ())]
        for one in sorted(candidates, key=lambda one: -one.weight):
            values = one.read(text)
            if values is None or (not loosely and self._swallows(one, values)):
                continue
            told = self._told(one, values, depth - 1)
            may_doubt = loosely and one.is_strong
            if may_doubt or not any(_is_doubtful(text) for name, text in told.items() if not one.is_code(name)):
                return one.filled(told)
        return None

    def _swallows(self, one: _Template, values: dict[str, str]) -> bool:
        """Whether a place holds several phrases that are no known one together: those are to be told one by one."""
        shared = {name for pair in one.neighbours for name in pair}
        alone = (value for name, value in values.items() if name not in shared and not one.is_code(name))
        joint = _JOINED if one.is_strong else _SEVERAL
        return any(joint.search(_without_code(value)) for value in alone if core(value) not in self.exact)

    def _told(self, one: _Template, values: dict[str, str], depth: int) -> dict[str, str]:
        """What stands in the places, translated; where two meet, the words go where they make phrases."""
        told = {name: value if one.is_code(name) else self.piece(value, depth) for name, value in values.items()}
        for first, second in one.neighbours:
            if _is_doubtful(told[first]) or _is_doubtful(told[second]) or not _is_whole(values[first]):
                words = f"{values[first]} {values[second]}".split(" ")
                for cut in range(len(words), -1, -1):
                    parts = [" ".join(part) for part in (words[:cut], words[cut:])]
                    pair = [self.piece(part, depth) for part in parts]
                    if all(map(_is_whole, parts)) and not any(map(_is_doubtful, pair)):
                        told[first], told[second] = pair
                        break
        return told

    def _in_parts(self, text: str, depth: int) -> str | None:
        """Phrases one after the other; None where none of them is known."""
        if depth <= 0:
            return None
        return self._with_remark(text, depth - 1) or self._with_subject(text, depth - 1) or self._list(text, depth - 1)

    def _with_remark(self, text: str, depth: int) -> str | None:
        """A phrase (and another one)."""
        parts = re.fullmatch(r"(.+?) \((.+)\)", text, re.DOTALL)
        if parts is None or not all(map(_is_whole, parts.groups())):
            return None
        told = [self.piece(part, depth) for part in parts.groups()]
        return f"{told[0]}（{told[1]}）" if told != list(parts.groups()) else None

    def _with_subject(self, text: str, depth: int) -> str | None:
        """`code` does something."""
        parts = re.fullmatch(r"(`[^`]*`) (.+)", text, re.DOTALL)
        told = self._whole(parts.group(2), depth) if parts is not None else None
        return f"{parts.group(1)} {told}" if parts is not None and told is not None else None

    def _list(self, text: str, depth: int) -> str | None:
        """The longest known beginning, then the rest in the same way; an unknown beginning stays as it is.

        The rest is no deeper than the list: it is shorter, and so there is an end to it.
        """
        near = itertools.islice(_JOINTS.finditer(text), _MOST_JOINTS)
        joints = [joint for joint in near if _is_whole(text[: joint.start()])]
        for joint in reversed(joints):
            left, right = text[: joint.start()], text[joint.end() :]
            before, inner, after = _edges(left)
            is_code = not _TOKEN.search(_without_code(left))
            told = _listed(inner) if is_code else self._whole(inner, depth) or self._with_remark(inner, depth)
            mark, rest = self._rest(joint.group(1), right, depth + 1)
            if told is not None and not (is_code and rest == right and has_prose(right)):
                mark = "、" if is_code and mark == "，" and not _TOKEN.search(_without_code(right)) else mark
                return f"{before.translate(_FULL)}{told}{after.translate(_FULL)}{mark}{rest}"
        for joint in joints[:1]:
            mark, rest = self._rest(joint.group(1), text[joint.end() :], depth + 1)
            if rest != text[joint.end() :]:
                return f"{text[: joint.start()]}{mark}{rest}"
        return None

    def _rest(self, joint: str, right: str, depth: int) -> tuple[str, str]:
        """What follows a joint, with its mark; a phrase may begin with the joint's word (`and so on`)."""
        whole = self._whole(f"and {right}", depth) if joint == " and " else None
        return (_WIDE[joint], self.piece(right, depth)) if whole is None else ("，", whole)


def _is_whole(text: str) -> bool:
    """Whether a text ends outside of code and brackets, and closes none that it did not open.

    >>> _is_whole("f(x), [0]"), _is_whole("a) and (b"), _is_whole("[1, ")
    (True, False, False)
    """
    bare = _without_code(text)
    depth = 0
    for mark in re.findall(r"[()\[\]]", bare):
        depth += 1 if mark in "([" else -1
        if depth < 0:
            return False
    return "`" not in bare and depth == 0


def core(text: str) -> str:
    """A phrase without the marks that join it to others.

    >>> core(", only `{0}`"), core(" (at step {0})"), core("f(x) is 0 (at once)")
    ('only `{0}`', 'at step {0}', 'f(x) is 0 (at once)')
    """
    return _edges(text)[1]


def _edges(text: str) -> tuple[str, str, str]:
    match = _EDGE.match(text)
    if match is None:
        return "", text, ""
    before, inner, after = match.groups()
    if before.endswith("(") != after.startswith(")"):
        if before.endswith("("):
            before, inner = before[:-1], "(" + inner
        else:
            after, inner = after[1:], inner + ")"
    return before, inner, after


def _whole_words(template: str) -> Iterator[str]:
    """Words that stand in every sentence made from a template, whole and by themselves."""
    bare = _CHOICE.sub("\0", _PLACE.sub("\0", template))
    for word in _TOKEN.finditer(bare):
        if bare[word.start() - 1 : word.start()] != "\0" and bare[word.end() : word.end() + 1] != "\0":
            yield word.group()


def has_prose(text: str) -> bool:
    """Whether English words follow each other outside of code.

    >>> has_prose("float32[64]"), has_prose("`a is b`"), has_prose("it is 0")
    (False, False, True)
    """
    return _PROSE.search(_without_code(text)) is not None


def _is_doubtful(told: str) -> bool:
    """Whether English is left where a template with few words of its own should have left none."""
    return has_prose(told) or any(word not in _TERMS for word in _PLAIN_WORD.findall(_without_code(told)))


def _without_code(text: str) -> str:
    """The text without code and numbers, which have letters but no words."""
    return re.sub(r"`[^`]*`|(?<!\w)'[^']*'(?!\w)|\d[\d.]*e[+-]?\d+", "", text)


def _listed(text: str) -> str:
    """A list of code or numbers with the marks of a Chinese one.

    >>> _listed("`a`, `b`"), _listed("[1, 2]")
    ('`a`、`b`', '[1, 2]')
    """
    return re.sub(r"(?<=`), (?=`)", "、", text)
