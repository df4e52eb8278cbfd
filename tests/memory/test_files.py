"""Files of a script that is followed: what it loads comes to the card, what it writes or deletes stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

from tests.memory.running import plan_of_text
from torchmedic.checkups.memory.kernel_guard import can_guard
from torchmedic.facts import MemoryPlan

_START = """
import os, pickle, shutil
from pathlib import Path
import numpy as np
import torch
layer = torch.nn.Linear(256, 256).cuda()
optimizer = torch.optim.Adam(layer.parameters())
"""
_STEPS = """
for _ in range(3):
    layer(torch.randn(8, 256, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
_WEIGHTS = 4 * (256 * 256 + 256)


def _script(text: str) -> str:
    return _START + textwrap.dedent(text) + _STEPS


def _followed(folder: Path, text: str) -> MemoryPlan:
    plan = plan_of_text(_script(text), folder)
    assert plan.lost is None, plan.lost
    return plan


def _content(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file() and file.name != "script.py")
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.mark.parametrize(
    "where", ["'cuda'", "torch.device('cuda', 0)", "{'cpu': 'cuda:0'}", "lambda storage, _: storage.cuda()"]
)
@pytest.mark.parametrize("new_format", [True, False])
def test_a_checkpoint_is_loaded_to_the_card(tmp_path: Path, where: str, new_format: bool) -> None:
    weights = torch.nn.Linear(256, 256).state_dict()
    torch.save(
        {"model": weights, "both": [weights["weight"], weights["weight"][1:]], "epoch": 7},
        tmp_path / "last.pt",
        _use_new_zipfile_serialization=new_format,
    )
    before = _content(tmp_path)
    text = f"""
        found = torch.load("last.pt", map_location={where})
        assert found["epoch"] == 7 and found["both"][1].shape == (255, 256)
        assert all(one.device.type == "cuda" for one in found["model"].values())
        layer.load_state_dict(found["model"])
    """
    plan = _followed(tmp_path, text)
    # Three tensors, two storages: what shares memory is held once, beside the layer's own.
    held = sum(s.bytes for s in plan.by_line if s.where is not None and "torch.load" in s.where.source)
    assert held == _WEIGHTS
    assert _content(tmp_path) == before


def test_whole_numbers_of_a_checkpoint_keep_their_values(tmp_path: Path) -> None:
    torch.save({"edges": torch.arange(40).view(2, 20)}, tmp_path / "graph.pt")
    _followed(tmp_path, "assert int(torch.load('graph.pt', map_location='cuda')['edges'].max()) == 39")


def test_what_was_saved_can_be_loaded_again(tmp_path: Path) -> None:
    for name in ("m.pt", "m.pkl", "m.safetensors"):
        (tmp_path / name).write_text("precious")
    text = """
        from safetensors.torch import load_file, save_file, save_model
        torch.save(layer.state_dict(), "m.pt")
        layer.load_state_dict(torch.load("m.pt", map_location="cuda", weights_only=True))
        assert torch.load("m.pt", map_location="cpu")["bias"].device.type == "cpu"
        with open("m.pkl", "wb") as file:
            pickle.dump(layer, file)
        with open("m.pkl", "rb") as file:
            assert pickle.load(file).weight.shape == (256, 256)
        save_file(layer.state_dict(), "m.safetensors", metadata={"format": "pt"})
        found = load_file("m.safetensors", device="cuda")
        assert found["weight"].device.type == "cuda"
        layer.load_state_dict(found)
        save_model(layer, "model.safetensors")
        del found
    """
    plan = _followed(tmp_path, text)
    assert set(plan.not_written) == {"m.pt", "m.pkl", "m.safetensors", "model.safetensors"}
    assert _content(tmp_path) == dict.fromkeys(("m.pt", "m.pkl", "m.safetensors"), b"precious")


def test_the_script_sees_what_it_wrote_and_the_disk_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "runs" / "old").mkdir(parents=True)
    for name in ("log.csv", "notes.txt", "runs/old/a.txt", "runs/keep.txt", "best.pt", "w.npy"):
        (tmp_path / name).write_text("precious")
    before = _content(tmp_path)
    text = """
        with open("log.csv", "a") as file:
            file.write(", more")
        assert Path("log.csv").read_text() == "precious, more"
        Path("notes.txt").write_text("mine")
        assert open("notes.txt").read() == "mine" and os.path.getsize("notes.txt") == 4
        shutil.rmtree("runs/old")
        assert not os.path.exists("runs/old/a.txt") and os.listdir("runs") == ["keep.txt"]
        os.makedirs("runs/old/deep"); Path("runs/old/deep/b.txt").write_text("b")
        assert sorted(p.name for p in Path("runs").rglob("*")) == ["b.txt", "deep", "keep.txt", "old"]
        np.save("w.npy", np.arange(3)); assert np.load("w.npy").sum() == 3
        os.remove("best.pt"); assert not Path("best.pt").exists()
        torch.save(layer.state_dict(), "best.tmp"); os.replace("best.tmp", "best.pt")
        assert os.path.exists("best.pt") and not os.path.exists("best.tmp")
        shutil.copy("log.csv", "copy.csv"); shutil.move("copy.csv", "runs/moved.csv")
        assert sorted(os.listdir("runs")) == ["keep.txt", "moved.csv", "old"]
        os.symlink("keep.txt", "runs/latest"); assert open("runs/latest").read() == "precious"
        open("runs/latest", "w").write("through the link"); os.chmod("log.csv", 0o600)
        os.unlink("runs/keep.txt")
        try:
            open("nowhere/x.txt", "w")
        except FileNotFoundError as error:
            assert error.filename == "nowhere/x.txt"
    """
    rights = (tmp_path / "log.csv").stat().st_mode
    plan = _followed(tmp_path, text)
    assert _content(tmp_path) == before
    assert (tmp_path / "log.csv").stat().st_mode == rights
    assert {"log.csv", "notes.txt", "best.pt", "w.npy", "runs/moved.csv"} <= set(plan.not_written)
    assert set(plan.not_deleted) == {"runs/old", "runs/keep.txt"}


def test_temporary_files_are_real_and_go_with_the_prediction(tmp_path: Path) -> None:
    text = """
        import subprocess, tempfile
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "x").write_text("seen by others")
            shown = subprocess.run(["cat", f"{folder}/x"], capture_output=True, text=True).stdout
            assert shown == "seen by others"
        assert not os.path.exists(folder)
        Path("where").write_text(tempfile.gettempdir())
    """
    plan = _followed(tmp_path, text)
    assert plan.not_written == ("where",)
    assert os.listdir(tmp_path) == ["script.py"]


def test_libraries_that_open_files_themselves_are_led_too(tmp_path: Path) -> None:
    (tmp_path / "frame.parquet").write_text("precious")
    text = """
        import sqlite3, sqlite3.dbapi2
        for library in (sqlite3, sqlite3.dbapi2):
            with library.connect("runs.db") as base: base.execute("create table if not exists t (x)")
            assert library.connect(":memory:").execute("select 1").fetchone() == (1,)
        import pandas as pd, pyarrow as pa, pyarrow.parquet as pq
        pd.DataFrame({"a": [1, 2]}).to_parquet("frame.parquet"); assert pd.read_parquet("frame.parquet").a.sum() == 3
        pq.write_table(pa.table({"x": [1, 2, 3]}), "table.parquet"); assert pq.read_table("table.parquet").num_rows == 3
        assert pq.ParquetFile("table.parquet").metadata.num_rows == 3
        with pa.OSFile("raw", "wb") as file: file.write(b"abc")
        assert pa.memory_map("raw").read() == b"abc"
    """
    plan = _followed(tmp_path, text)
    assert set(plan.not_written) == {"frame.parquet", "table.parquet", "raw", "runs.db"}
    assert _content(tmp_path) == {"frame.parquet": b"precious"}


@pytest.mark.skipif(not can_guard(), reason="this Linux has no Landlock")
def test_other_programs_cannot_delete_move_or_empty_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for name in ("runs/a.txt", "notes.txt", "log.txt"):
        (tmp_path / name).write_text("precious")
    (tmp_path / "part.py").write_text("")
    before = _content(tmp_path)
    text = """
        import subprocess, part
        os.system("rm -rf runs; mkdir -p made")
        subprocess.run(["mv", "notes.txt", "moved.txt"])
        subprocess.run("echo mine > log.txt", shell=True)
        assert Path("made").is_dir()
    """
    (tmp_path / "script.py").write_text(_script(text))
    command = [sys.executable, "-m", "torchmedic", "memory", "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    (tmp_path / "script.py").unlink()
    assert _content(tmp_path) == before
