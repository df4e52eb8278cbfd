"""Groups behind bad rows, and the file behind a bad tensor."""

from __future__ import annotations

import ast
import gc
import os
from pathlib import Path

import pandas as pd
import torch

from torchmedic.probes.events.loaded_files import LoadedFiles, file_of
from torchmedic.record import Recorder
from torchmedic.replay.groups import groups_of
from torchmedic.settings import RUN_FILE, Settings
from torchmedic.store import Writer


def test_groups_are_those_of_the_bad_rows() -> None:
    events = pd.DataFrame({"item": [7, 8, 9, 8], "value": [1.0, 2.0, 3.0, 2.0]})
    line = ast.parse("z = (events['value'] - 2) / events['item'].map(std)").body[0]
    assert groups_of(line, ("1", "3"), {"events": events}) == ("item: 8",)


def test_groups_of_a_line_that_groups_or_works_on_what_was_grouped() -> None:
    events = pd.DataFrame({"item": [7, 8, 9, 8], "value": [1.0, 2.0, 3.0, 2.0]})
    held = {"events": events, "by": events.groupby("item")["value"]}
    for text in (
        "z = (x - m) / by.transform('std')",
        "z = (x - m) / events.groupby('item')['value'].transform('std')",
        "z = events.groupby(by='item')['value'].transform(scaled)",
    ):
        assert groups_of(ast.parse(text).body[0], ("1", "3"), held) == ("item: 8",), text
    odd = ast.parse("z = x / events.groupby(lambda i: i % 2)['value'].transform('std')").body[0]
    assert groups_of(odd, ("1",), held) == ()


def test_a_line_without_a_look_up_has_no_groups() -> None:
    assert groups_of(ast.parse("z = (x - x.mean()) / x.std()").body[0], ("1",), {}) == ()
    assert groups_of(ast.parse("z = list(map(f, x))").body[0], ("1",), {}) == ()
    assert groups_of(None, ("1",), {}) == ()


def test_a_loaded_tensor_knows_its_file_while_it_lives(tmp_path: Path) -> None:
    path = tmp_path / "graph.pt"
    torch.save({"edges": [torch.ones(3), torch.zeros(2)]}, path)
    original = torch.load
    probe = LoadedFiles()
    probe.install(Recorder(Settings(run_folder=str(tmp_path), parent=os.getpid()), Writer(tmp_path / RUN_FILE)))
    try:
        loaded = torch.load(path)
        assert file_of(loaded["edges"][0]) == str(path)
        assert file_of(torch.ones(3)) == ""
        del loaded
        gc.collect()
        assert all(reference() is None for reference, _ in LoadedFiles.files.values())
    finally:
        probe.remove()
    assert torch.load is original
    assert LoadedFiles.files == {}
