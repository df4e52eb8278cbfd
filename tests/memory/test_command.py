"""`torchmedic memory` from the command line, and `torchmedic.estimate`."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

import torchmedic
from torchmedic import GiB
from torchmedic.estimating import EstimateError

_SCRIPT = """
import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=1000)
size = parser.parse_args().batch_size
model = torch.nn.Sequential(torch.nn.Linear(64, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(torch.randn(size, 64, device="cuda")).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
print("the script's own words")
"""


def _torchmedic(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torchmedic", "memory", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_a_script_that_does_not_fit_is_told_what_would(tmp_path: Path) -> None:
    # GIVEN a script whose memory grows with its batch
    (tmp_path / "train.py").write_text(_SCRIPT)
    # WHEN it is asked about on a card that is too small
    wanted = ("--card", "1GiB", "--json", "out.json", "--html", "out.html", "train.py", "--batch-size", "100000")
    done = _torchmedic(tmp_path, *wanted)
    # THEN the answer is no, with the largest batch that fits
    assert done.returncode == 1, done.stderr
    assert "does not fit" in done.stdout
    assert "the script's own words" not in done.stdout
    answer = json.loads((tmp_path / "out.json").read_text())
    assert answer["schema"] == 1
    memory = answer["memory"]
    assert memory["phase"] in ("forward", "backward")
    assert memory["fits"]["fits"] is False
    assert memory["by_line"][0]["file"] == "train.py"
    assert sum(memory["by_category"].values()) == memory["peak_allocated"]
    # Activations and one gradient of 2048 floats for each row.
    row = 2048 * 4
    room = memory["fits"]["usable"]
    assert 0.2 * room < memory["fits"]["largest"]["size"] * row < 0.6 * room
    assert memory["growth"]["laws"]["backward"]["linear"] > row
    # AND that batch was tried, and so was a larger one, as near as the time for trying allowed
    largest = memory["fits"]["largest"]
    assert largest["size"] < largest["too_large"] <= 1.25 * largest["size"]
    at_size = _torchmedic(
        tmp_path, "--card", "1GiB", "--json", "at.json", "train.py", "--batch-size", str(largest["size"])
    )
    assert at_size.returncode == 0
    # AND the page shows it over the step, by module and by line
    page = (tmp_path / "out.html").read_text(encoding="utf-8").split("<template")[0]
    assert "1GiB: it does not fit" in page
    assert "train.py:10  model(torch.randn" in page
    for picture in ('class="layer s0"', 'class="tiles"', ">activations<", ">backward phase<"):
        assert picture in page


def test_the_sizes_that_memory_grows_with_are_found(tmp_path: Path) -> None:
    # GIVEN a script that says nothing about what memory depends on
    (tmp_path / "train.py").write_text(_SCRIPT)
    # WHEN its growth is asked for
    done = _torchmedic(tmp_path, "--sweep", "auto", "--json", "out.json", "train.py")
    # THEN its own flag was tried, and the law is that of its activations
    assert done.returncode == 0, done.stderr
    assert "growth with batch-size" in done.stdout
    memory = json.loads((tmp_path / "out.json").read_text())["memory"]
    assert [point["size"] for point in memory["growth"]["points"]] == [500, 1000, 2000]
    assert memory["growth"]["laws"]["backward"]["linear"] > 2048 * 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--card", "voodoo", "train.py"), "unknown card"),
        (("--sweep", "nodes", "train.py"), "--sweep"),
        (("missing.py",), "no such script"),
        (("--html", "nowhere/x.html", "train.py"), "there is no folder nowhere"),
        (("--sweep", "edges=1,2", "--json", "x.json", "train.py"), "the script does not run with --edges"),
        (("--sweep", "edges=1,2", "deaf.py"), "memory is the same with every --edges"),
        (("broken.py",), "broken.py:1: SyntaxError"),
    ],
)
def test_bad_questions_get_one_line(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "train.py").write_text(_SCRIPT)
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "deaf.py").write_text(_SCRIPT.replace("parse_args()", "parse_known_args()[0]"))
    done = _torchmedic(tmp_path, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU to measure on")
def test_measuring_needs_a_gpu(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_SCRIPT)
    done = _torchmedic(tmp_path, "--real", "train.py")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "torch sees no GPU" in done.stderr


def test_a_model_is_estimated_and_left_alone() -> None:
    model = torch.nn.Linear(1024, 1024)
    weight = model.weight.detach().clone()
    found = torchmedic.estimate(model, torch.ones(8, 1024), optimizer=torch.optim.SGD)
    assert found.by_category["parameters"] == pytest.approx(4 * 1024 * 1025, rel=0.01)
    assert found.peak < GiB(1)
    assert "peak predicted" in str(found)
    assert model.weight.device.type == "cpu"
    assert torch.equal(model.weight, weight)


def test_the_workspaces_are_counted_where_autograd_has_run_before() -> None:
    model, batch = torch.nn.Linear(256, 256), torch.ones(8, 256)
    before = torchmedic.estimate(model, batch)
    model(batch).sum().backward()
    after = torchmedic.estimate(model, batch)
    assert after.plan.mode == "fake-cpu"
    assert after.by_category["workspace"] == before.by_category["workspace"] > 0


def test_an_unknown_card_is_named() -> None:
    with pytest.raises(EstimateError, match="unknown card 'voodoo'"):
        torchmedic.estimate(torch.nn.Linear(8, 8), torch.ones(4, 8), card="voodoo")


def test_a_model_that_cannot_run_says_why() -> None:
    with pytest.raises(EstimateError, match="RuntimeError"):
        torchmedic.estimate(torch.nn.Linear(8, 8), torch.ones(4, 9))


def test_a_script_that_ends_before_its_training_is_not_said_to_fit(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_SCRIPT)
    done = _torchmedic(tmp_path, "--card", "4090", "train.py", "--no-such-flag", "3")
    assert done.returncode == 1, done.stdout
    assert "fits" not in done.stdout
    # Its own words, and its line.
    assert "unrecognized arguments: --no-such-flag 3" in done.stdout
    assert "train.py:6" in done.stdout


def test_a_script_that_came_to_nothing_has_the_last_word(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nprint('usage: train.py CONFIG')\n")
    done = _torchmedic(tmp_path, "train.py")
    assert done.returncode == 1
    assert "without an optimizer step and without a tensor; its last words: usage: train.py CONFIG" in done.stdout
    assert "peak" not in done.stdout


@pytest.mark.parametrize(
    ("model", "left_behind"), [("Linear(8, 4)", "torch.ones(16, 4)"), ("Conv1d(8, 4, 1)", "torch.ones(4, 8, 9)")]
)
def test_what_lies_on_two_devices_fits_nowhere(model: str, left_behind: str, tmp_path: Path) -> None:
    """On the CPU alone the script would run."""
    text = f"""
        import torch
        device = "cuda" if torch.cuda.is_available() else "cpu"
        model = torch.nn.{model}.to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            output = model({left_behind if "Conv" in model else "torch.ones(16, 8, device=device)"})
            (output - {left_behind if "Linear" in model else 0}).square().mean().backward()
            optimizer.step()
    """
    (tmp_path / "train.py").write_text(textwrap.dedent(text))
    done = _torchmedic(tmp_path, "--card", "24GiB", "train.py")
    assert done.returncode == 1
    assert "fits" not in done.stdout
    assert "RuntimeError" in done.stdout.splitlines()[0]


def test_a_plain_yes_needs_all_of_the_run(tmp_path: Path) -> None:
    open_end = _SCRIPT.replace("range(2)", "range(50)").replace(
        "    optimizer.zero_grad()", "    optimizer.zero_grad()\n    kept.append(torch.ones(1 << 20, device='cuda'))"
    )
    (tmp_path / "train.py").write_text("kept = []\n" + open_end)
    done = _torchmedic(tmp_path, "--card", "24GiB", "train.py")
    assert done.returncode == 1
    assert "grows by 4.00 MiB per step" in done.stdout.splitlines()[0]
    assert "fits as far as it was followed" in done.stdout


def test_a_size_that_changes_nothing_is_said_to(tmp_path: Path) -> None:
    labelled = _SCRIPT.replace(
        "parser.parse_args()", "(parser.add_argument('--labelled', type=int), parser.parse_args())[1]"
    )
    (tmp_path / "train.py").write_text(labelled)
    done = _torchmedic(tmp_path, "--sweep", "labelled=10,20", "train.py")
    assert done.returncode == 0, done.stderr
    assert "memory does not depend on labelled" in done.stdout


def test_a_step_behind_a_number_of_the_cards_is_reached(tmp_path: Path) -> None:
    guarded = _SCRIPT.replace("    optimizer.step()", "    if model[0].weight.norm().item() < 0.5: optimizer.step()")
    (tmp_path / "train.py").write_text(guarded)
    done = _torchmedic(tmp_path, "train.py")
    assert done.returncode == 0, done.stdout
    assert "taken for 0" in done.stdout
    assert "no optimizer step" not in done.stdout


def test_a_process_that_dies_in_its_tear_down_has_told_all_before(tmp_path: Path) -> None:
    dying = "import atexit, os, signal\natexit.register(os.kill, os.getpid(), signal.SIGABRT)\n"
    guarded = _SCRIPT.replace("    optimizer.step()", "    if model[0].weight.norm().item() < 0.5: optimizer.step()")
    (tmp_path / "train.py").write_text(dying + guarded)
    done = _torchmedic(tmp_path, "train.py")
    assert done.returncode == 0, done.stdout
    assert "taken for 0" in done.stdout


def test_words_of_the_tear_down_are_not_the_scripts(tmp_path: Path) -> None:
    dying = "import atexit, os, signal\natexit.register(os.kill, os.getpid(), signal.SIGABRT)\n"
    said = "print('usage: train.py CONFIG', flush=True)\natexit.register(os.write, 2, b'terminate called')\n"
    (tmp_path / "train.py").write_text(f"{dying}import torch\n{said}")
    done = _torchmedic(tmp_path, "train.py")
    assert done.returncode == 1
    assert "its last words: usage: train.py CONFIG" in done.stdout


_REMEDIES = """
import torch
from torch import nn
blocks = [nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)) for _ in range(4)]
model = nn.Sequential(*blocks).cuda()
optimizer = torch.optim.AdamW(model.parameters())
data = torch.utils.data.DataLoader(torch.randn(20000, 256), batch_size=4096)
for x in data:
    with torch.autocast("cuda", torch.float16):
        loss = model(x.cuda()).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_remedies_are_told_with_their_peaks(tmp_path: Path) -> None:
    # GIVEN a script that computes in 16 bits already, with blocks and batches that can be made smaller
    (tmp_path / "train.py").write_text(_REMEDIES)
    # WHEN it is asked what would help
    done = _torchmedic(tmp_path, "--remedies", "--json", "out.json", "train.py")
    # THEN each remedy has a peak of its own, and what gains nothing says why
    assert done.returncode == 0, done.stderr
    memory = json.loads((tmp_path / "out.json").read_text())["memory"]
    tried = {one["name"]: one for one in memory["remedies"]}
    assert tried["checkpointing"]["peak_allocated"] < 0.8 * memory["peak_allocated"]
    assert tried["accumulation"]["peak_allocated"] < 0.8 * memory["peak_allocated"]
    assert "two batches of 2048" in tried["accumulation"]["title"]
    assert tried["8-bit"]["gain"] == pytest.approx(0.75 * memory["by_category"]["optimizer state"], rel=0.01)
    assert tried["bf16"]["note"] == "gains nothing: most of what is computed is held in 16 bits already"
    for name in ("sdpa", "fused", "foreach-off", "set-to-none"):
        assert tried[name]["note"].startswith("gains nothing: ")
    segments = tried["expandable-segments"]
    assert segments["gain"] == memory["peak_reserved"] - segments["peak_reserved"]
    assert segments["note"].startswith("gains nothing: ") == (segments["gain"] <= 0.005 * memory["peak_reserved"])


_NO_CARD = """
import torch
from torch import nn
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.maps = nn.ModuleList(nn.Linear(64, 64) for _ in range(3))
        self.wide = nn.Sequential(nn.Linear(64, 512), nn.GELU(), nn.Linear(512, 64))
    def forward(self, x):
        q, k, v = (each(x) for each in self.maps)
        return self.wide(x + (q @ k.transpose(-2, -1) / 8).softmax(-1) @ v)
model = nn.Sequential(Attention(), Attention(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    loss = model(torch.randn(16, 256, 64)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_remedies_of_a_script_that_names_no_card_are_those_of_a_card(tmp_path: Path) -> None:
    # GIVEN a script that moves nothing to a card
    (tmp_path / "train.py").write_text(_NO_CARD)
    # WHEN it is asked what would help
    done = _torchmedic(tmp_path, "--remedies", "--json", "out.json", "train.py")
    # THEN it is plainly said how it was followed, and what helps on a card helps
    assert done.returncode == 0, done.stderr
    assert "the script names no card: it was followed on the CPU as it is" in done.stdout
    assert "because" not in done.stdout
    assert done.stderr == ""
    tried = {one["name"]: one for one in json.loads((tmp_path / "out.json").read_text())["memory"]["remedies"]}
    assert tried["bf16"]["gain"] > 1 << 20
    assert tried["checkpointing"]["gain"] > 1 << 20
    assert tried["sdpa"]["gain"] > 4 << 20
    assert tried["sdpa"]["note"] == "calculated without the matrices of train.py:11, not run"


def test_what_is_under_way_is_shown_on_a_terminal(tmp_path: Path) -> None:
    # GIVEN a terminal for the errors alone
    (tmp_path / "train.py").write_text(_NO_CARD)
    ours, terminal = pty.openpty()
    command = [sys.executable, "-m", "torchmedic", "memory", "--remedies", "train.py"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=terminal, text=True, env={**os.environ, "TERM": "xterm"}
    ) as process:
        os.close(terminal)
        drawn = b""
        # WHEN remedies are tried
        with contextlib.suppress(OSError):  # its end
            while part := os.read(ours, 1 << 16):
                drawn += part
        assert process.stdout is not None
        answer = process.stdout.read()
    os.close(ours)
    # THEN it says which, there and nowhere else
    assert b"trying" in drawn
    assert "trying" not in answer
    assert "peak predicted" in answer
