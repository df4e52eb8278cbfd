"""In which encoding bytes are written that a codec refused: told by what is plausible, and only then called sure."""

from __future__ import annotations

import pytest

from torchmedic.probes.crash.encodings import readings_of

_KOREAN = "이름;나이\n김하늘;41\n이서연;33\n"


@pytest.mark.parametrize(
    ("text", "encoding", "named", "is_sure"),
    [
        ("name;age\nMüller;41\nNuñez;33\n", "latin-1", ["cp1252"], False),
        ("ville;été\nÉvry;créée\nSète;1\n", "cp1252", ["cp1252"], False),
        ("Maß;Größe\n4;5\n", "latin-1", ["cp1252"], False),
        ("物流 很 快\n质量 太 差\n", "gbk", ["gb18030"], True),
        ("科室,血糖\n心内科,5.5\n", "gb18030", ["gb18030"], True),
        ("имя;возраст\nиванов;41\n", "cp1251", ["cp1251"], False),
        ("имя;возраст\nиванов;41\n", "koi8-r", ["koi8-r"], False),
        (_KOREAN, "euc_kr", ["gb18030", "euc_kr"], False),
        ("a;ü\n", "utf-16", ["utf-16"], True),
    ],
)
def test_an_encoding_is_named_by_what_its_words_look_like(
    text: str, encoding: str, named: list[str], is_sure: bool
) -> None:
    found = readings_of(text.encode(encoding), "utf-8")
    assert [reading.encoding for reading in found] == named
    assert [reading.is_sure for reading in found] == [is_sure] * len(named)


def test_what_is_utf_8_is_sure_where_another_codec_refused_it() -> None:
    found = readings_of("Müller;41".encode(), "ascii")
    assert [(reading.encoding, reading.sample, reading.is_sure) for reading in found] == [("utf-8", "Müller;41", True)]
