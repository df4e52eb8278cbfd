"""Every message is translated, nothing of it is lost, and no English sentence is left in a Chinese diagnosis."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import extract_messages
from tests.catalogue import FIXTURES
from torchmedic.findings import Rule, Symptom
from torchmedic.rules import by_code, catalogue, page
from torchmedic.translation.files import CATALOGUE, LANGUAGES, Entry, po_path, po_text, read_po
from torchmedic.translation.phrases import Phrasebook, has_prose
from torchmedic.translation.speaking import digest, digest_in, phrasebook, with_example

PAGES = CATALOGUE / "zh_CN" / "pages"
HEADINGS = ["发生了什么", "原因", "示例", "修复", "什么时候不是问题", "如何检测"]

_PLACE = re.compile(r"\{\w+\}")
_CODE = re.compile(r"`[^`]*`")
_HEAD = re.compile(r"^(?:error|warning|hint)\[[A-Z]{3}\d{3}\]: (?:probably: |possibly: )?(.*)$")
_SLOT = re.compile(r"^ +(?:= (note|help|ruled out|more): |\| +\^+ ?)(.*)$")
# What torch, Python and the libraries say is quoted as they say it.
_FOREIGN = re.compile(
    r"fails here: |the message was \"|what the reader says: |^\w+Error: |cannot be read by Python: |"
    r"could not convert string|in this state dict|when workers are forked|^Lightning: "
)


def entry_faults(entry: Entry) -> list[str]:
    """What is wrong with one translation."""
    if not entry.translated:
        return [f"not translated: {entry.english}"]
    faults = []
    if set(_PLACE.findall(entry.english)) != set(_PLACE.findall(entry.translated)):
        faults.append(f"a place is lost or invented: {entry.english} | {entry.translated}")
    if set(_CODE.findall(entry.english)) != set(_CODE.findall(entry.translated)):
        faults.append(f"code is changed: {entry.english} | {entry.translated}")
    if re.search(r"[\u4e00-\u9fff][,;:?!]|[,;:?!][\u4e00-\u9fff]", _CODE.sub("", entry.translated)):
        faults.append(f"a narrow mark among Chinese: {entry.translated}")
    return faults


def catalogue_faults(entries: list[Entry], wanted: set[str]) -> list[str]:
    """Messages that lack a translation, and translations of what nobody says any more."""
    known = {entry.english for entry in entries}
    faults = [f"not translated: {message}" for message in sorted(wanted - known)]
    return faults + [f"nobody says it any more: {message}" for message in sorted(known - wanted)]


def page_faults(rule: Rule, chinese: str) -> list[str]:
    """What is wrong with the translation of a rule's page."""
    english = page(rule)
    faults = []
    if not chinese.startswith(f"# {rule.name} ({rule.code})\n"):
        faults.append("the title is not that of the rule")
    if re.findall(r"^## (.+)$", chinese, flags=re.MULTILINE) != HEADINGS:
        faults.append("the headings are not those of the house, in their order")
    if re.search(r"^## .+\n\s*(?=^## |^<!--)", chinese, flags=re.MULTILINE):
        faults.append("nothing stands under a heading")
    if _code_of(chinese) != _code_of(english):
        faults.append(f"code is changed: {sorted(_code_of(chinese) ^ _code_of(english))}")
    if digest_in(chinese) != digest(english):
        faults.append(f"the English page has changed: translate it anew, then write `english: {digest(english)}`")
    return faults


def _code_of(text: str) -> set[str]:
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return {" ".join(code.split()) for code in _CODE.findall(prose)}


def sentences(drawn: str) -> Iterator[str]:
    """What a drawn diagnosis says: headlines, labels and slots, wrapped lines joined."""
    slot, text = "", ""
    for line in drawn.splitlines():
        head, other = _HEAD.match(line), _SLOT.match(line)
        if slot == "label" and not other:
            line = re.sub(r"^ *\| (?=.)", "", line)  # the margin of the code window goes on beside its label
        if head or other or re.match(r"^ *\d* *\||^ *(-->|:::)|^ +[+-] |^ *$", line):
            yield from _spoken(slot, text)
            slot = "headline" if head else (other.group(1) or "label") if other else ""
            text = head.group(1) if head else other.group(2) if other else ""
        elif slot:
            text += " " + line.strip()
    yield from _spoken(slot, text)


def _spoken(slot: str, text: str) -> Iterator[str]:
    if slot == "ruled out":
        for remark in re.split(r"(?<=\)); ", text):
            yield from remark.removesuffix(")").split(" (", 1)
    elif slot and slot != "more":
        yield text


def english_left(drawn: str, book: Phrasebook) -> list[str]:
    """Sentences of a drawn diagnosis that stay English."""
    told = ((text, book.said(text)) for text in sentences(drawn) if not _FOREIGN.search(text))
    return [f"{text} | {chinese}" for text, chinese in told if has_prose(_CODE.sub("", chinese))]


@pytest.fixture(scope="module")
def messages() -> set[str]:
    return set(extract_messages.catalogue())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_is_translated(language: str, messages: set[str]) -> None:
    entries = read_po(po_path(language))
    faults = catalogue_faults(entries, messages) + [fault for entry in entries for fault in entry_faults(entry)]
    assert faults == [], "scripts/extract_messages.py brings the catalogue up to date; then fill in its empty msgstr"


def test_the_template_for_translators_is_up_to_date(messages: set[str]) -> None:
    assert catalogue_faults(read_po(extract_messages.TEMPLATE), messages) == []


def test_no_english_sentence_is_left_in_a_chinese_diagnosis() -> None:
    drawn = sorted(FIXTURES.glob("*/expected*.txt"))
    left = {path.parent.name: english_left(path.read_text(), phrasebook("zh")) for path in drawn}
    assert {name: texts for name, texts in left.items() if texts} == {}


@pytest.mark.parametrize("rule", catalogue(), ids=lambda rule: rule.code)
def test_every_page_is_translated(rule: Rule) -> None:
    assert page_faults(rule, (PAGES / f"{rule.name.replace('-', '_')}.md").read_text(encoding="utf-8")) == []


def test_no_translated_page_without_a_rule() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} - {rule.name.replace("-", "_") for rule in catalogue()} == set()


def test_a_translated_page_has_the_example_of_the_english_one() -> None:
    shown = with_example("# a\n\n```\n```\n\nwords\n\n<!-- english: 12 -->\n", "# a\n\n```python\nx = 1\n```\n")
    assert shown == "# a\n\n```python\nx = 1\n```\n\nwords\n"


def test_the_law_on_pages_can_be_broken() -> None:
    rule = by_code("zero-std-division")
    assert rule is not None
    whole = (PAGES / "zero_std_division.md").read_text(encoding="utf-8")
    assert page_faults(rule, whole) == []
    assert "title" in page_faults(rule, whole.replace("NUM004", "NUM005"))[0]
    assert "headings" in page_faults(rule, whole.replace("## 修复", "## 办法"))[0]
    assert "nothing stands" in page_faults(rule, re.sub(r"(?s)(## 原因\n).*?(?=## )", r"\1\n", whole))[0]
    assert "code is changed" in page_faults(rule, whole.replace("`std`", "`标准差`"))[0]
    assert "has changed" in page_faults(rule, re.sub("english: .*", "english: 00000000 -->", whole))[0]


def test_the_law_on_translations_can_be_broken() -> None:
    english = "`{0}` is 0 at step {1}"
    assert entry_faults(Entry(english, "第 {1} 步 `{0}` 为 0")) == []
    assert "not translated" in entry_faults(Entry(english))[0]
    assert "lost or invented" in entry_faults(Entry(english, "`{0}` 为 0"))[0]
    assert "lost or invented" in entry_faults(Entry(english, "第 {1} 步 `{0}` 为 {2}"))[0]
    assert "code is changed" in entry_faults(Entry("call `eval()`", "调用 `评估()`"))[0]
    assert "narrow mark" in entry_faults(Entry("a: b", "甲:乙"))[0]


def test_the_law_on_the_catalogue_can_be_broken() -> None:
    assert catalogue_faults([Entry("a b", "甲")], {"a b"}) == []
    assert catalogue_faults([Entry("a b", "甲")], {"c d"}) == ["not translated: c d", "nobody says it any more: a b"]


def test_the_law_on_english_can_be_broken() -> None:
    book = Phrasebook([Entry("the divisor is {0}", "除数为 {0}")])
    drawn = "error[NUM003]: the divisor is 0\n  |\n1 | x / y\n  |     ^ zero it is\n  = note: the divisor is 1\n"
    assert english_left(drawn, book) == ["zero it is | zero it is"]
    wrapped = drawn.replace("zero it is", "zero it\n  | is")
    assert english_left(wrapped, book) == ["zero it is | zero it is"]


def test_every_kind_of_text_is_extracted(tmp_path: Path) -> None:
    file = tmp_path / "rule.py"
    file.write_text(
        "verb = 'is' if one else 'are'\n"
        'headline = f\'`{a}` {verb} 0{f", only `{b}`" if b else ""} at step {n:.2f}\'\n'
        "if kind == 'not said at all': many(rows, 'row')\n"
    )
    assert sorted(extract_messages.messages(file)) == ["`{0}` {is|are} 0{1} at step {2}", "only `{0}`", "{0} row{s|}"]


def test_a_catalogue_file_survives_reading_and_writing(tmp_path: Path) -> None:
    entries = [Entry('say "{0}"\\n\nnow', "说“{0}”", ("a.py", "b.py")), Entry("no translation")]
    path = tmp_path / "a.po"
    path.write_text(po_text(entries, "zh"), encoding="utf-8")
    assert read_po(path) == entries


def test_a_text_of_many_unknown_clauses_is_given_up_soon() -> None:
    book = Phrasebook(read_po(po_path("zh")))
    text = "not found; known: " + "; ".join(f"option {i} is {i}" for i in range(25))
    assert "option 24 is 24" in book.said(text)
    assert book.piece.cache_info().misses + book._whole.cache_info().misses < 4000


def test_a_long_list_of_known_clauses_is_told_to_its_end() -> None:
    clauses = [symptom.value for symptom in Symptom]
    told = phrasebook("zh").said("; ".join(clauses))
    assert len(clauses) > 15
    assert not has_prose(told)


def test_what_an_exception_says_is_left_as_it_is() -> None:
    raised = "ValueError: all elements of input should be between 0 and 1, and the loss is 0"
    assert phrasebook("zh").said(raised) == raised
