"""The traceback of a script that dies is the one it would have had: none of our frames stands in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import run_watched
from tests.scripts.twice import twice
from torchmedic.probes.source.frames import is_own_file

DEATHS = {
    "load-state-dict": "torch.nn.Linear(2, 2).load_state_dict(torch.nn.Linear(3, 2).state_dict())",
    "optimizer": "torch.optim.SGD([], lr=0.1)",
    "torch-load": "torch.load('missing.pt')",
    "read-csv": "import pandas; pandas.read_csv('missing.csv')",
    "column": "import pandas; pandas.DataFrame({'a': [1, 2]})['b']",
    "numpy-load": "import numpy; numpy.load('missing.npy')",
    "forward": "torch.nn.Sequential(torch.nn.Linear(2, 2))(torch.zeros(1, 3))",
    "backward": "torch.zeros(2).sum().backward()",
    "loader": "next(iter(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(2)), batch_size=0)))",
    "sample": "list(torch.utils.data.DataLoader([1, None]))",
    "sample-in-worker": "list(torch.utils.data.DataLoader([1, None], num_workers=1))",
    "loader-at-its-end": "it = iter(torch.utils.data.DataLoader([1.0])); next(it); next(it)",
    "empty-loader": "next(iter(torch.utils.data.DataLoader([], shuffle=False)))",
    "child-process": (
        "import multiprocessing\n"
        "ours, theirs = multiprocessing.Pipe()\n"
        "multiprocessing.Process(target=lambda: theirs.send(1 / 0)).start()\n"
        "theirs.close()\n"
        "ours.recv()"
    ),
    "child-started-anew": (
        "import multiprocessing\n"
        "def die(end):\n"
        "    end.send(1 / 0)\n"
        "if __name__ == '__main__':\n"
        "    of = multiprocessing.get_context('spawn')\n"
        "    ours, theirs = of.Pipe()\n"
        "    of.Process(target=die, args=(theirs,)).start()\n"
        "    theirs.close()\n"
        "    ours.recv()"
    ),
    "child-of-a-server": (
        "import multiprocessing\n"
        "def die(end):\n"
        "    end.send(1 / 0)\n"
        "if __name__ == '__main__':\n"
        "    of = multiprocessing.get_context('forkserver')\n"
        "    ours, theirs = of.Pipe()\n"
        "    of.Process(target=die, args=(theirs,)).start()\n"
        "    theirs.close()\n"
        "    ours.recv()"
    ),
    "child-that-cannot-begin": (
        "import multiprocessing\n"
        "if __name__ == '__main__':\n"
        "    def die(end):\n"
        "        end.send(1)\n"
        "    of = multiprocessing.get_context('spawn')\n"
        "    ours, theirs = of.Pipe()\n"
        "    of.Process(target=die, args=(theirs,)).start()\n"
        "    theirs.close()\n"
        "    ours.recv()"
    ),
    "spawned-lambda": (
        "if __name__ == '__main__':\n"
        "    of = dict(num_workers=1, multiprocessing_context='spawn', collate_fn=lambda rows: rows)\n"
        "    list(torch.utils.data.DataLoader([1.0], **of))"
    ),
    "no-program": "import subprocess; subprocess.run(['no-such-program'])",
    "padding": "torch.nn.utils.rnn.pad_sequence([torch.ones(2, 3), torch.ones(2, 4)])",
    "save": "torch.save({}, 'none/of/it.pt')",
    "parameter": "torch.nn.Parameter(torch.ones(2, dtype=torch.int64))",
    "requires-grad": "torch.nn.Linear(2, 2).weight.requires_grad = 'yes'",
    "schedule": "torch.optim.lr_scheduler.StepLR(torch.optim.SGD([torch.ones(1)], lr=0.1), 1).step(1, 2, 3)",
    "plateau": "torch.optim.lr_scheduler.ReduceLROnPlateau(torch.optim.SGD([torch.ones(1)], lr=0.1), mode='up')",
    "distribution": "torch.distributions.Categorical(torch.ones(3)).log_prob(torch.tensor(7))",
    "sampler": "torch.utils.data.WeightedRandomSampler([1.0], -1)",
    "split": "torch.utils.data.random_split([1, 2, 3], [2, 2])",
    "mode": "torch.nn.Linear(2, 2).train('on')",
    "clip": "torch.nn.utils.clip_grad_norm_(torch.nn.Linear(2, 2).parameters(), None, error_if_nonfinite=True)",
}


@pytest.mark.parametrize("death", DEATHS)
def test_no_frame_of_ours_is_shown(tmp_path: Path, death: str) -> None:
    script = tmp_path / "script" / "train.py"
    script.parent.mkdir()
    script.write_text(f"import torch\n{DEATHS[death]}\n")
    shown = run_watched(script).stderr
    files = [line.split('"')[1] for line in shown.splitlines() if line.strip().startswith('File "')]
    assert files, shown
    assert not [file for file in files if is_own_file(file)], shown


# By then a function mode of ours listens to what the training calls.
_TRAINING = """\
import torch

model = torch.nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    scores = model(torch.randn(8, 4))
    targets = torch.zeros({rows}, dtype=torch.int64)
    loss = torch.nn.functional.cross_entropy(scores, targets)
    optimizer.zero_grad()
    loss.backward()
    {more}
    optimizer.step()
"""
DEATHS_IN_TRAINING = {
    "loss": _TRAINING.format(rows="8 if step == 0 else 7", more=""),
    "second-backward": _TRAINING.format(rows="8", more="step == 0 or loss.backward()"),
    "handled": _TRAINING.format(
        rows="8",
        more="try: step == 0 or loss.backward()\n    except RuntimeError as e: raise ValueError('twice') from e",
    ),
}


@pytest.mark.parametrize("death", DEATHS_IN_TRAINING)
def test_the_frames_are_those_of_a_bare_run(tmp_path: Path, death: str) -> None:
    (tmp_path / "train.py").write_text(DEATHS_IN_TRAINING[death])
    bare, watched = twice(["train.py"], tmp_path)
    lines = [line for line in watched.stderr.decode().splitlines() if line.strip().startswith('File "')]
    assert lines == [line for line in bare.stderr.decode().splitlines() if line.strip().startswith('File "')]
