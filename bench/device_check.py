"""On a machine with a CUDA card: the guard withholds the sick update bit for bit, and synchronised ranks get silence.

    python bench/device_check.py

Each row of the first part trains a small network whose data turn infinite at a known step: bare up to the step before
it, and under `torchmedic run`. The weights that torchmedic saved must be those of the bare run, the line the
division's. The slow ones fall ill after the guard has settled on its way, the others before. Two gloo ranks on one card
do the same, the NaN born on one of them, and must not wait for the card in a healthy step more often than bare ones.

The second part trains two gloo ranks on one card with two samples each, which `SyncBatchNorm` normalises together:
nothing may be said. The same with a plain BatchNorm must be told of, or the silence means nothing. It needs a card
because `DistributedDataParallel` refuses `SyncBatchNorm` on the host.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

SCRIPT = """
import hashlib, sys, time
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Linear(32, {width}), nn.BatchNorm1d({width}), nn.ReLU(), nn.Dropout(0.1), nn.Linear({width}, 4)
).cuda()
opt = torch.optim.{optimizer}
x = torch.randn(64 * 40, 32)
y = torch.randint(0, 4, (64 * 40,))
scale = torch.ones(40)
scale[{sick}] = 0.0


def normalise(rows, s):
    return rows / s


stop = int(sys.argv[1]) if len(sys.argv) > 1 else 10 ** 9
for step in range(40):
    if step == stop:
        break
    xb = x[step * 64:(step + 1) * 64].cuda()
    xb = normalise(xb, scale[step].cuda())
    loss = nn.functional.cross_entropy(net(xb), y[step * 64:(step + 1) * 64].cuda())
    opt.zero_grad()
    loss.backward()
    opt.step()
    {pause}
state = b"".join(p.detach().cpu().numpy().tobytes() for p in net.parameters())
print("weights", hashlib.sha256(state).hexdigest())
"""

RANKED = """
import hashlib, sys, time, warnings
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.cuda.set_device(0)
torch.manual_seed(0)
rank = dist.get_rank()
net = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 4)).cuda()
model = DistributedDataParallel(net, device_ids=[0])
opt = torch.optim.{optimizer}
x = torch.randn(100, 2, 32, 32).cuda()
y = torch.randint(0, 4, (100, 2, 32)).cuda()
scale = torch.ones(100, 2)
scale[{sick}, 1] = 0.0
scale = scale.cuda()


def normalise(rows, s):
    return rows / s


stop = int(sys.argv[1]) if len(sys.argv) > 1 else 10 ** 9
waits = []
for step in range(100):
    if step == stop:
        break
    if step == 66:
        torch.cuda.set_sync_debug_mode("warn")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        xb = normalise(x[step, rank], scale[step, rank])
        loss = nn.functional.cross_entropy(model(xb), y[step, rank])
        opt.zero_grad()
        loss.backward()
        opt.step()
    waits += [step for warning in said if "synchroniz" in str(warning.message)]
torch.cuda.set_sync_debug_mode("default")
if rank == 0:
    state = b"".join(p.detach().cpu().numpy().tobytes() for p in net.parameters())
    print("weights", hashlib.sha256(state).hexdigest(), "waits", len(waits))
dist.destroy_process_group()
"""

SYNCED = """
import sys
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
torch.cuda.set_device(0)
torch.manual_seed(0)
x = torch.randn(240, 3, 8, 8)
rows = TensorDataset(x, x.mean((1, 2, 3))[:, None])
sampler = DistributedSampler(rows)
net = nn.Sequential(
    nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 1)
)
if sys.argv[1] == "synced":
    net = nn.SyncBatchNorm.convert_sync_batchnorm(net)
model = DistributedDataParallel(net.cuda(), device_ids=[0])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(1):
    sampler.set_epoch(epoch)
    for inputs, targets in DataLoader(rows, batch_size=2, sampler=sampler):
        loss = nn.functional.mse_loss(model(inputs.cuda()), targets.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
dist.destroy_process_group()
"""

OPTIMIZERS = [
    "AdamW(net.parameters(), lr=1e-3, fused=True)",
    "SGD(net.parameters(), lr=1e-2, momentum=0.9, fused=True)",
    "AdamW(net.parameters(), lr=1e-3)",
    "RMSprop(net.parameters(), lr=1e-3)",
    "SGD(net.parameters(), lr=1e-2)",
]


def check(optimizer: str, width: int, slow: bool) -> dict[str, object]:
    sick = 36 if slow else 23
    pause = "time.sleep(0.004)" if slow else ""
    source = textwrap.dedent(SCRIPT).strip().format(optimizer=optimizer, width=width, sick=sick, pause=pause)
    guilty = next(i for i, line in enumerate(source.splitlines(), start=1) if "return rows / s" in line)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(source)
        bare = subprocess.run([sys.executable, "train.py", str(sick)], cwd=folder, capture_output=True, text=True)
        watched = subprocess.run(
            [sys.executable, "-m", "torchmedic", "run", "--json", "out.json", "train.py"],
            cwd=folder,
            capture_output=True,
            text=True,
            env=os.environ | {"COLUMNS": "120"},
        )
        report = json.loads((Path(folder) / "out.json").read_text())
        top = report["diagnoses"][0] if report["diagnoses"] else {}
        saved = next(Path(folder).glob(".torchmedic/*/weights-before-step-*.safetensors"), None)
        return {
            "optimizer": optimizer.split("(")[0] + (" fused" if "fused" in optimizer else ""),
            "slow": slow,
            "code": top.get("code"),
            "step right": top.get("step") == sick + 1,
            "line right": (top.get("where") or {}).get("line") == guilty,
            "weights kept": saved is not None and _digest(saved) in bare.stdout,
            "tail": "" if top else watched.stderr[-800:],
        }


def check_birth_on_a_rank(optimizer: str, sick: int = 80) -> dict[str, object]:
    """Two ranks that train together: the sick update withheld on both, and what a healthy step waits for."""
    launcher = ["torchrun", "--standalone", "--nproc-per-node", "2"]
    ours = [sys.executable, "-m", "torchmedic", "run", "--json", "out.json"]
    source = RANKED.strip()
    guilty = next(i for i, line in enumerate(source.splitlines(), start=1) if "return rows / s" in line)
    with tempfile.TemporaryDirectory() as folder:

        def run(sick: int, *command: str) -> str:
            (Path(folder) / "train.py").write_text(source.format(optimizer=optimizer, sick=sick))
            return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout

        bare = run(sick, *launcher, "train.py", str(sick))
        # Nothing is sick when the loop ends before that step comes.
        waits = [int(run(99, *before, *launcher, "train.py", "96").rpartition(" ")[2]) for before in ([], ours)]
        run(sick, *ours, *launcher, "train.py")
        report = json.loads((Path(folder) / "out.json").read_text())
        top = report["diagnoses"][0] if report["diagnoses"] else {}
        saved = sorted(Path(folder).glob(".torchmedic/**/weights-before-step-*.safetensors"))
        return {
            "ranks": 2,
            "optimizer": optimizer.split("(")[0] + (" fused" if "fused" in optimizer else ""),
            "code": top.get("code"),
            "step right": top.get("step") == sick + 1,
            "line right": (top.get("where") or {}).get("line") == guilty,
            "weights kept": bool(saved) and _digest(saved[-1], LAYERS_OF_RANKS) in bare,
            "waits bare, watched": waits,
        }


def check_ranks(kind: str) -> dict[str, object]:
    """Two gloo ranks on one card under `torchmedic run`, with a BatchNorm of this kind."""
    launcher = ["torchrun", "--standalone", "--nproc-per-node", "2"]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(SYNCED.strip())
        watched = subprocess.run(
            [sys.executable, "-m", "torchmedic", "run", "--json", "out.json", *launcher, "train.py", kind],
            cwd=folder,
            capture_output=True,
            text=True,
            env=os.environ | {"COLUMNS": "120"},
        )
        out = Path(folder) / "out.json"
        report = json.loads(out.read_text()) if out.exists() else {"outcome": "none", "diagnoses": []}
        codes = [told["code"] for told in report["diagnoses"]]
        right = report["outcome"] == "healthy" and codes == ([] if kind == "synced" else ["WIR114"])
        return {
            "ranks": 2,
            "BatchNorm": kind,
            "outcome": report["outcome"],
            "codes": codes,
            "right": right,
            "tail": "" if right else watched.stderr[-800:],
        }


LAYERS = (0, 1, 4)
LAYERS_OF_RANKS = (0, 2)


def _digest(path: Path, layers: tuple[int, ...] = LAYERS) -> str:
    import hashlib

    from safetensors.torch import load_file

    saved = {name.removeprefix("module."): tensor for name, tensor in load_file(path).items()}
    names = [f"{layer}.{part}" for layer in layers for part in ("weight", "bias")]
    return hashlib.sha256(b"".join(saved[n].numpy().tobytes() for n in names)).hexdigest()


def main() -> None:
    if subprocess.run(
        [sys.executable, "-c", "import torch; assert torch.cuda.is_available()"], stderr=subprocess.DEVNULL
    ).returncode:
        print("no CUDA device here: nothing was checked")
        return
    rows = [check(o, 256, slow) for o in OPTIMIZERS for slow in (False, True)]
    for row in rows:
        print(row)
    good = sum(bool(r["step right"] and r["line right"] and r["weights kept"]) for r in rows)
    print(f"{good} of {len(rows)} exact")
    born = [check_birth_on_a_rank(optimizer) for optimizer in (OPTIMIZERS[0], OPTIMIZERS[2])]
    for row in born:
        print(row)
    ranks = [check_ranks(kind) for kind in ("synced", "plain")]
    for row in ranks:
        print(row)
    print(f"{sum(bool(row['right']) for row in ranks)} of {len(ranks)} runs of ranks right")


if __name__ == "__main__":
    main()
