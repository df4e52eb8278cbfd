"""A fault inside torchmedic switches one probe off with one line; the training goes on to the same numbers."""

from __future__ import annotations

import inspect
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import CodeType, FrameType

import pytest

from tests.running import run_watched
from tests.scripts.twice import twice
from torchmedic.record import Probe, Recorder
from torchmedic.settings import Settings

EVENTS = ["install", *sorted(name for name in vars(Probe) if name.startswith("on_"))]
TRAINING = """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters())
data = torch.utils.data.TensorDataset(torch.randn(24, 4), torch.randn(24, 1))
for x, y in torch.utils.data.DataLoader(data, batch_size=8, shuffle=True):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    print(loss.item().hex())
net.eval()
print(torch.autograd.grad(net(x).sum(), net[0].weight)[0].sum().item().hex())
"""
CRASHING = "import torch\nnet = torch.nn.Linear(3, 2)\nprint('before')\nnet(torch.zeros(4, 5))\n"


class _Listing(Recorder):
    """Notes which probes it is given, and installs none."""

    def __init__(self) -> None:
        self.settings = Settings(run_folder="", parent=0)
        self.found: list[Probe] = []

    def add(self, probe: Probe) -> None:
        self.found.append(probe)


def _probes() -> list[Probe]:
    from torchmedic.watching import install_probes

    recorder = _Listing()
    install_probes(recorder)
    return recorder.found


def _faults() -> list[str]:
    """Every event that some probe listens to."""
    return [f"{probe.name}.{event}" for probe in _probes() for event in EVENTS if _listens(probe, event)]


def _listens(probe: Probe, event: str) -> bool:
    return inspect.getattr_static(type(probe), event) is not inspect.getattr_static(Probe, event)


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults")
    (folder / "crashing.py").write_text(CRASHING)
    (folder / "training.py").write_text(TRAINING)
    return folder


@pytest.fixture(scope="module")
def losses(scripts: Path) -> str:
    return run_watched(scripts / "training.py").stdout


@pytest.mark.parametrize("fault", _faults())
def test_a_broken_probe_is_switched_off_and_nothing_else_happens(fault: str, losses: str, scripts: Path) -> None:
    probe, _, event = fault.partition(".")
    if event == "on_crash":
        watched = run_watched(scripts / "crashing.py", break_probe=fault)
        assert (watched.status, watched.stdout) == (1, "before\n")
    else:
        watched = run_watched(scripts / "training.py", break_probe=fault)
        assert (watched.status, watched.stdout) == (0, losses)
    lines = [line for line in watched.stderr.splitlines() if line.startswith("torchmedic:")]
    if not lines:
        pytest.skip("no event of this kind in the script")
    assert lines[:1] == [f"torchmedic: probe `{probe}` switched off (RuntimeError: injected fault)"]
    # A probe that leans on the broken one may follow it, with one line of its own.
    off = [re.match(r"torchmedic: probe `([\w-]+)` switched off ", line) for line in lines]
    assert all(off)
    assert len({match.group(1) for match in off if match}) == len(lines)


def _raise(*_args: object, **_kwargs: object) -> None:
    raise RuntimeError("injected fault")


def _methods(probe: Probe) -> dict[str, CodeType]:
    kept = {"install", "remove", *dir(object)}
    found = {n: item for n, item in vars(type(probe)).items() if inspect.isfunction(item) and n not in kept}
    return {name: inspect.unwrap(item).__code__ for name, item in found.items()}


@pytest.fixture(scope="module")
def called(scripts: Path, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The methods of probes that the training calls: to break any other one changes nothing, and shows nothing."""
    labels = {code: f"{probe.name}.{name}" for probe in _probes() for name, code in _methods(probe).items()}
    noted = tmp_path_factory.mktemp("called") / "names"
    add, seen = Recorder.add, set()

    def note(frame: FrameType, event: str, _arg: object) -> None:
        label = labels.get(frame.f_code)
        if label is not None and label not in seen:
            seen.add(label)
            with noted.open("a") as file:
                file.write(f"{label}\n")

    def add_noted(recorder: Recorder, probe: Probe) -> None:
        sys.setprofile(note)
        add(recorder, probe)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Recorder, "add", add_noted)
        run_watched(scripts / "training.py")
    return set(noted.read_text().split())


def test_the_training_calls_most_probes(called: set[str]) -> None:
    assert len({label.partition(".")[0] for label in called}) > len(_probes()) / 2


@pytest.mark.parametrize("probe", _probes(), ids=lambda probe: probe.name)
def test_a_fault_in_any_method_of_a_probe_stays_inside(
    probe: Probe, called: set[str], losses: str, scripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in those that torch calls by way of a patch or a hook, where no event stands between us and the script."""
    for name in [name for name in _methods(probe) if f"{probe.name}.{name}" in called]:
        with monkeypatch.context() as broken:
            broken.setattr(type(probe), name, _raise)
            watched = run_watched(scripts / "training.py")
        assert (watched.status, watched.stdout) == (0, losses), f"{name}: {watched.stderr[-1500:]}"


_SIGNALLED = TRAINING.replace(
    "import torch\n",
    """import signal
import torch


def lose_patience(number, frame):
    raise TimeoutError("the script's own")


signal.signal(signal.SIGUSR1, lose_patience)
""",
    1,
)


def test_what_a_signal_raises_while_we_are_at_work_is_the_scripts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that died, an alarm that went off: the handler may be called in the middle of a probe."""
    from torchmedic.probes.course.pulse import Pulse

    def signalled(probe: Probe, optimizer: object) -> None:
        os.kill(os.getpid(), signal.SIGUSR1)

    (tmp_path / "training.py").write_text(_SIGNALLED)
    with monkeypatch.context() as patched:
        patched.setattr(Pulse, "on_step_done", signalled)
        watched = run_watched(tmp_path / "training.py")
    assert watched.status == 1
    assert "TimeoutError: the script's own" in watched.stderr
    assert "switched off" not in watched.stderr


def test_a_fault_through_the_command_line(tmp_path: Path) -> None:
    text = (
        "import torch\np = torch.nn.Parameter(torch.ones(2))\no = torch.optim.SGD([p])\np.sum().backward()\no.step()\n"
    )
    (tmp_path / "s.py").write_text(text + "print(p.tolist())\n")
    bare, watched = twice(["s.py"], tmp_path, extra={"TORCHMEDIC_BREAK_PROBE": "optimizers.install"})
    assert (watched.status, watched.stdout) == (0, bare.stdout)
    assert watched.stderr.count(b"torchmedic: probe `optimizers` switched off") == 1


def test_a_fault_in_the_parent_is_one_line_after_the_script_has_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('ran to its end')\nraise SystemExit(5)\n")
    broken = "import sys\nsys.modules['torchmedic.triage'] = None\n"  # makes the import fail
    (tmp_path / "sitecustomize.py").write_text(broken)
    done = subprocess.run(
        [sys.executable, "-m", "torchmedic", "run", "train.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 5
    assert done.stdout == "ran to its end\n"
    assert "could not say what happened" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
