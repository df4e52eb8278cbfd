"""Hostile input: a clear finding or error, nothing written or run, and the other files are still checked."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pytest
import torch

from torchmedic.checkups.data import files
from torchmedic.checkups.data.check import Checkup, check_paths
from torchmedic.checkups.data.options import DataError, Options
from torchmedic.checkups.data.packed import is_cut
from torchmedic.facts import DataSource, FileTrouble, Run, TableColumn
from torchmedic.triage import examine

ROWS = "".join(f"{i},{i * 37 % 101}\n" for i in range(3000))


class _Harm:
    """A pickle that leaves a file behind when it is opened."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch harmed",)


def _truncated_gz(folder: Path) -> Path:
    packed = gzip.compress(("a,b\n" + ROWS).encode())
    (folder / "cut.csv.gz").write_bytes(packed[: len(packed) * 2 // 3])
    return folder / "cut.csv.gz"


def _nul_bytes(folder: Path) -> Path:
    (folder / "nul.csv").write_bytes(b"a,b\n1,2\n3,\0\0\n5,6\n")
    return folder / "nul.csv"


def _nothing(folder: Path) -> Path:
    (folder / "void.csv").touch()
    return folder / "void.csv"


def _header_only(folder: Path) -> Path:
    (folder / "header.csv").write_text("a,b,c\n")
    return folder / "header.csv"


def _malicious_pt(folder: Path) -> Path:
    torch.save({"x": torch.ones(3), "y": _Harm()}, folder / "evil.pt")
    return folder / "evil.pt"


def _malicious_pickle(folder: Path) -> Path:
    (folder / "evil.pkl").write_bytes(pickle.dumps(_Harm()))
    return folder / "evil.pkl"


def _object_array(folder: Path) -> Path:
    np.save(folder / "evil.npy", np.array([_Harm()], dtype=object), allow_pickle=True)
    return folder / "evil.npy"


def _bomb(folder: Path) -> Path:
    """A few kilobytes that say they become a terabyte."""
    with zipfile.ZipFile(folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(1 << 20))
        archive.infolist()[0].file_size = 1 << 40
    return folder / "bomb.npz"


def _endless_line(folder: Path) -> Path:
    """Some kilobytes that become one line of 64 MiB."""
    (folder / "bomb.csv.gz").write_bytes(gzip.compress(b"a,b\n" + bytes([49]) * (64 << 20), 1))
    return folder / "bomb.csv.gz"


def _not_parquet(folder: Path) -> Path:
    (folder / "fake.parquet").write_text("<html>404</html>")
    return folder / "fake.parquet"


def _broken_json(folder: Path) -> Path:
    lines = [json.dumps({"a": i, "b": i * i % 7}) for i in range(50)]
    lines[20] = '{"a": 20, "b"'
    (folder / "log.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "log.jsonl"


def _cut_safetensors(folder: Path) -> Path:
    from safetensors.torch import save_file

    save_file({"w": torch.ones(100, 100)}, folder / "whole.safetensors")
    content = (folder / "whole.safetensors").read_bytes()
    (folder / "whole.safetensors").unlink()
    (folder / "cut.safetensors").write_bytes(content[:5000])
    return folder / "cut.safetensors"


def _bare_pickle(folder: Path) -> Path:
    """Named like a file of torch, which it is not: torch's own reader has no name for what it refuses."""
    (folder / "bare.pt").write_bytes(pickle.dumps({"model": _Harm()}))
    return folder / "bare.pt"


HOSTILE = {
    _bare_pickle: "DAT138",
    _truncated_gz: "DAT137",
    _nul_bytes: "DAT137",
    _nothing: "DAT136",
    _header_only: "DAT136",
    _malicious_pt: "DAT138",
    _malicious_pickle: "DAT138",
    _object_array: "DAT138",
    _bomb: "DAT137",
    _endless_line: "DAT137",
    _not_parquet: "DAT137",
    _broken_json: "DAT137",
    _cut_safetensors: "DAT137",
}


def _codes(checkup: Checkup) -> list[str]:
    return [d.code for d in examine(Run(observations=tuple(checkup.seen))).diagnoses if d.severity != "hint"]


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_a_hostile_file_is_named_and_harms_nobody(
    make: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = make(tmp_path)
    (tmp_path / "fine.csv").write_text("a,b\n" + "".join(f"{i % 7},{i * 13 % 17}\n" for i in range(100)) + "1,nan\n")
    before = sorted(os.listdir(tmp_path))
    checkup = check_paths((str(path), str(tmp_path / "fine.csv")), Options())
    assert HOSTILE[make] in _codes(checkup), [fact for fact in checkup.seen if isinstance(fact, FileTrouble)]
    assert any(isinstance(fact, TableColumn) and fact.nan == 1 for fact in checkup.seen)
    assert sorted(os.listdir(tmp_path)) == before


def test_a_part_that_is_nearly_nothing_when_packed_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_SWOLLEN", 1 << 20)
    np.savez_compressed(tmp_path / "zeros.npz", x=np.zeros((1 << 9, 1 << 9)))
    np.savez_compressed(tmp_path / "numbers.npz", x=np.random.default_rng(0).random((1 << 9, 1 << 9)))
    checkup = check_paths((str(tmp_path),), Options())
    told = [(Path(fact.source).name, fact.trouble) for fact in checkup.seen if isinstance(fact, FileTrouble)]
    assert told == [("zeros.npz", "too-large")]


def test_a_broken_line_of_json_is_no_row_of_missing_values(tmp_path: Path) -> None:
    checkup = check_paths((str(_broken_json(tmp_path)),), Options())
    assert [fact.rows for fact in checkup.seen if isinstance(fact, DataSource)] == [49]
    assert not any(fact.nulls for fact in checkup.seen if isinstance(fact, TableColumn))


def test_trust_opens_what_is_refused_otherwise(tmp_path: Path) -> None:
    torch.save({"x": torch.full((3,), torch.nan), "when": io.StringIO("")}, tmp_path / "own.pt")
    assert _codes(check_paths((str(tmp_path / "own.pt"),), Options())) == ["DAT138"]
    assert _codes(check_paths((str(tmp_path / "own.pt"),), Options(trust=True))) == ["DAT100"]


def test_a_table_of_ten_thousand_columns(tmp_path: Path) -> None:
    names = [f"gene_{i}" for i in range(10_000)]
    rng = np.random.default_rng(0)
    values = rng.integers(0, 99, (12, 10_000)).astype(object)
    values[:, 5_000:] += 0.5
    values[3, 7], values[4, 9_000], values[5, 9_001] = "", "nan", "-inf"
    text = "\n".join(",".join(map(str, row)) for row in values)
    (tmp_path / "wide.csv").write_text(",".join(names) + "\n" + text + "\n")
    checkup = check_paths((str(tmp_path / "wide.csv"),), Options())
    columns = [fact for fact in checkup.seen if isinstance(fact, TableColumn)]
    assert [fact.column for fact in columns] == names
    assert [fact.column for fact in columns if fact.nulls] == ["gene_7"]
    assert [(fact.column, fact.nan, fact.inf) for fact in columns if fact.nan or fact.inf] == [
        ("gene_9000", 1, 0),
        ("gene_9001", 0, 1),
    ]
    assert (columns[0].minimum, columns[0].mean) == (min(values[:, 0]), pytest.approx(values[:, 0].mean()))


def test_a_byte_order_mark_and_quotes_over_lines_keep_lines_right(tmp_path: Path) -> None:
    rows = [f'{i},"note\nof two lines",{i / 4}' for i in range(30)]
    rows[20] = '20,"one line",inf'
    (tmp_path / "notes.csv").write_text("id,note,value\n" + "\n".join(rows) + "\n", encoding="utf-8-sig")
    checkup = check_paths((str(tmp_path / "notes.csv"),), Options())
    column = next(fact for fact in checkup.seen if isinstance(fact, TableColumn) and fact.column == "value")
    assert (column.inf, column.cells[0].line) == (1, 42)
    assert {fact.column for fact in checkup.seen if isinstance(fact, TableColumn)} == {"id", "note", "value"}


@pytest.mark.parametrize("mark", [";", "|", "\t"])
def test_any_common_delimiter_is_recognised(mark: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n".replace(",", mark) + ROWS.replace(",", mark))
    checkup = check_paths((str(tmp_path / "t.csv"),), Options())
    assert [(fact.rows, fact.columns) for fact in checkup.seen if isinstance(fact, DataSource)] == [(3000, 2)]
    assert not any(isinstance(fact, FileTrouble) for fact in checkup.seen)


@pytest.mark.parametrize("mark", ["^", "~", "::", "#"])
def test_a_delimiter_that_is_not_recognised_is_said(mark: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "a,b,c\n".replace(",", mark) + "".join(f"{i},{i * 7},x\n" for i in range(99)).replace(",", mark)
    )
    checkup = check_paths((str(tmp_path / "t.csv"),), Options())
    assert [fact.trouble for fact in checkup.seen if isinstance(fact, FileTrouble)] == ["one-column"]
    assert "DAT137" in _codes(checkup)


def test_one_column_of_sentences_is_one_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("text\n" + "".join(f"{'word ' * (i % 7)}end {i}\n" for i in range(99)))
    checkup = check_paths((str(tmp_path / "t.csv"),), Options())
    assert not any(isinstance(fact, FileTrouble) for fact in checkup.seen)


def test_a_folder_as_hugging_face_saves_it(tmp_path: Path) -> None:
    """Shards in Arrow's stream format beside two files of JSON that are no data."""
    import pyarrow
    import pyarrow.ipc

    for shard in range(2):
        table = pyarrow.table({"text": [f"t{i}" for i in range(50)], "score": [0.5 * i for i in range(49)] + [None]})
        with pyarrow.ipc.new_stream(str(tmp_path / f"data-0000{shard}-of-00002.arrow"), table.schema) as stream:
            stream.write_table(table)
    (tmp_path / "state.json").write_text('{"_data_files": [{"filename": "data-00000-of-00002.arrow"}]}')
    (tmp_path / "dataset_info.json").write_text('{"features": {}}')
    checkup = check_paths((str(tmp_path),), Options())
    sources = [(fact.format, fact.rows, fact.columns) for fact in checkup.seen if isinstance(fact, DataSource)]
    assert sources == [("arrow", 100, 2)]
    assert next(f.nulls for f in checkup.seen if isinstance(f, TableColumn) and f.column == "score") == 2


def test_lines_of_another_length_are_counted_and_named(tmp_path: Path) -> None:
    lines = [f"{i},{i * 7 % 11},{i * 3 % 5}" for i in range(30_000)]
    lines[25_000], lines[27_000] = "1,2", "1,2,3,4"
    (tmp_path / "ragged.csv").write_text("a,b,c\n" + "\n".join(lines) + "\n")
    checkup = check_paths((str(tmp_path / "ragged.csv"),), Options())
    trouble = next(fact for fact in checkup.seen if isinstance(fact, FileTrouble))
    assert (trouble.trouble, trouble.line, trouble.detail[:7]) == ("ragged-lines", 25_002, "2 lines")


def test_text_far_down_in_a_column_of_numbers_loses_no_row(tmp_path: Path) -> None:
    values = [str(i / 8) for i in range(60_000)]
    values[50_000] = "<0.5"
    (tmp_path / "deep.csv").write_text("k,value\n" + "\n".join(f"{i},{v}" for i, v in enumerate(values)) + "\n")
    checkup = check_paths((str(tmp_path / "deep.csv"),), Options())
    column = next(fact for fact in checkup.seen if isinstance(fact, TableColumn) and fact.column == "value")
    assert column.texts is not None
    assert (column.rows, column.finite, column.texts.tokens, column.texts.cells[0].line) == (
        60_000,
        59_999,
        (("<0.5", 1),),
        50_002,
    )


def test_a_folder_of_everything_and_a_link_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "circle").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a.csv").write_text("a,b\n" + ROWS)
    np.save(tmp_path / "deep" / "x.npy", np.ones((4, 4), dtype=np.float32))
    (tmp_path / "readme.md").write_text("# words")
    checkup = check_paths((str(tmp_path),), Options())
    assert {fact.format for fact in checkup.seen if isinstance(fact, DataSource)} == {"csv", "npy"}


def test_parts_of_one_table_are_one_table(tmp_path: Path) -> None:
    for part in range(3):
        (tmp_path / f"part-{part}.csv").write_text("a,b\n" + "".join(f"{i},{i * part % 5}\n" for i in range(100)))
    (tmp_path / "part-3.csv").touch()
    checkup = check_paths((str(tmp_path / "part-*.csv"),), Options())
    assert [fact.rows for fact in checkup.seen if isinstance(fact, DataSource)] == [300]
    assert [fact.source for fact in checkup.seen if isinstance(fact, FileTrouble)] == [str(tmp_path / "part-3.csv")]


@pytest.mark.parametrize("mark", [",", ";", "\t", "   "])
def test_a_short_line_near_the_head_costs_that_line_alone(mark: str, tmp_path: Path) -> None:
    cells = [[f"{i}.5", f"{i * 7 % 11}.25", f"{i * 3 % 5}.125"] for i in range(500)]
    cells[30], cells[31] = cells[30][:2], [*cells[31], "9"]
    lines = [mark.join(line) for line in [["a", "b", "c"], *cells]]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    checkup = check_paths((str(tmp_path / "t.csv"),), Options())
    trouble = next(fact for fact in checkup.seen if isinstance(fact, FileTrouble))
    assert (trouble.trouble, trouble.line, trouble.detail[:7]) == ("ragged-lines", 32, "2 lines")
    assert [(f.rows, f.columns) for f in checkup.seen if isinstance(f, DataSource)] == [(498, 3)]


def test_an_empty_cell_between_tabs_is_a_missing_cell(tmp_path: Path) -> None:
    lines = ["a\tb\tc", *(f"{i}.5\t{'' if i == 600 else i * 7 % 11}\t{i % 5}.25" for i in range(900))]
    (tmp_path / "t.tsv").write_text("\n".join(lines) + "\n")
    checkup = check_paths((str(tmp_path / "t.tsv"),), Options())
    column = next(fact for fact in checkup.seen if isinstance(fact, TableColumn) and fact.column == "b")
    assert (column.rows, column.nulls, column.cells[0].line) == (900, 1, 602)
    assert not [fact for fact in checkup.seen if isinstance(fact, FileTrouble)]


def test_a_pattern_that_names_folders_means_what_is_in_them(tmp_path: Path) -> None:
    for name in ("north", "south"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "empty").mkdir()
    sources = [f.source for f in check_paths((str(tmp_path / "*th"),), Options()).seen if isinstance(f, DataSource)]
    assert sources == [str(tmp_path / name / "t.csv") for name in ("north", "south")]
    with pytest.raises(DataError, match="no data files"):
        check_paths((str(tmp_path / "empt*"),), Options())


def test_a_link_to_nowhere_is_no_such_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").symlink_to(tmp_path / "gone.csv")
    with pytest.raises(DataError, match="no such file"):
        check_paths((str(tmp_path / "t.csv"),), Options())


@pytest.mark.parametrize(
    ("name", "content", "trouble"),
    [("text.npy", b"hello", "unreadable"), ("half.pt", b"PK\x03\x04" + bytes(5000), "truncated")],
)
def test_what_a_file_is_not_is_told_by_its_bytes(name: str, content: bytes, trouble: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    seen = check_paths((str(tmp_path / name),), Options()).seen
    assert [fact.trouble for fact in seen if isinstance(fact, FileTrouble)] == [trouble]


@pytest.mark.parametrize("lost", [1, 3, 40, 900])
def test_a_packed_table_that_was_cut_off_is_to_be_fetched_again(lost: int, tmp_path: Path) -> None:
    rows = "".join(f"{i},{np.sin(i):.6f}\n" for i in range(3000))
    packed = pyarrow.Codec("zstd").compress(f"id,wave\n{rows}".encode(), asbytes=True)
    (tmp_path / "whole.csv.zst").write_bytes(packed)
    (tmp_path / "cut.csv.zst").write_bytes(packed[:-lost])
    assert not is_cut(tmp_path / "whole.csv.zst")
    seen = check_paths((str(tmp_path / "cut.csv.zst"),), Options()).seen
    assert next(fact.trouble for fact in seen if isinstance(fact, FileTrouble)) == "truncated"


def test_a_broken_line_of_json_is_told_by_its_own_number(tmp_path: Path) -> None:
    lines = [json.dumps({"id": i, "said": "good" * (i % 7)}) for i in range(400)]
    lines[218] = lines[218][:-4]
    (tmp_path / "said.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "said.json").write_text("[1, 2\n")
    broken = check_paths((str(tmp_path / "said.jsonl"),), Options()).seen
    assert next(fact.line for fact in broken if isinstance(fact, FileTrouble)) == 219
    cut = check_paths((str(tmp_path / "said.json"),), Options()).seen
    assert [fact.trouble for fact in cut if isinstance(fact, FileTrouble)] == ["broken-line"]
