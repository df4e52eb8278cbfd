"""Run files made by hand: sick, healthy, long, and hostile."""

from __future__ import annotations

import contextlib
import math
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from torchmedic.facts import (
    ColumnHistogram,
    DataSource,
    Environment,
    Histogram,
    LabelColumn,
    LayersWatched,
    Location,
    MemoryPlan,
    MetricPoint,
    Observation,
    Operand,
    OpFact,
    Origin,
    RunInfo,
    SickStep,
    Source,
    TableColumn,
    TensorSummary,
    Trial,
)
from torchmedic.facts.datacheck import Cell
from torchmedic.facts.memory_plan import MemoryMoment, ModuleShare
from torchmedic.store import RUN_FILE, append, create

HOSTILE = "<script>window.hurt=1</script><img src=x onerror=window.hurt=1>"
Point = tuple[str, int, float | None]


def a_run_file(
    folder: Path, observations: Iterable[Observation] = (), points: Sequence[Point] = (), **info: object
) -> Path:
    """A run folder with these facts and samples."""
    given = {"argv": ("train.py",), "cwd": str(folder), "started": 1.7e9, "seconds": 12.5, **info}
    create(folder / RUN_FILE, RunInfo(**given))  # type: ignore[arg-type]
    append(folder / RUN_FILE, observations)
    with contextlib.closing(sqlite3.connect(folder / RUN_FILE)) as db, db:
        db.executemany("INSERT INTO series VALUES (?, ?, ?)", points)
    return folder


def training(steps: int, layers: int = 4, every: int = 1) -> list[Point]:
    """The samples of a training that went well."""
    loss = [("loss", step, 2.0 * math.exp(-step / steps * 5) + 0.05) for step in range(1, steps + 1)]
    sampled = [
        (f"{kind}/block.{layer}.weight", step, (layer + 1) / (1 + step / steps))
        for kind in ("gradient", "weight")
        for layer in range(layers)
        for step in range(every, steps + 1, every)
    ]
    memory = [("memory/host", step, 3e8 + step) for step in range(every, steps + 1, every)]
    return [*loss, *sampled, *memory]


def a_healthy_run(folder: Path, steps: int = 200) -> Path:
    epochs = [
        MetricPoint(step=20 * epoch, epoch=epoch, name=f"{split}_loss", value=value, source=source)
        for epoch in range(1, 11)
        for split, value, source in (("train", 1 / epoch, "phase"), ("val", 0.3 + abs(epoch - 6) / 10, "log"))
    ]
    watched = LayersWatched(step=0, names=tuple(f"block.{layer}.weight" for layer in range(4)))
    return a_run_file(folder, [watched, *epochs], training(steps), steps=steps, exit_code=0)


def a_run_with_long_names(folder: Path) -> Path:
    """Layers that differ only in the middle of their names."""
    names = [
        f"encoder_transformer_layers.{number}.{part}_projection_linear.weight"
        for number in range(12)
        for part in ("self_attention_output", "intermediate_feed_forward")
    ]
    points: list[Point] = [(f"gradient/{name}", step, 1.0 + step) for name in names for step in range(1, 6)]
    seen = Environment(python="3.11.7", torch="2.13.0", platform="Linux")
    return a_run_file(folder, [LayersWatched(step=0, names=tuple(names)), seen], points, steps=5, exit_code=0)


def a_sick_run(folder: Path, name: str = "probs", script: str = "train.py", steps: int = 60) -> Path:
    """A logarithm of 0 after some good steps; `name` and `script` are the user's to choose."""
    source = f"    loss = -torch.log({name}).mean()"
    line = Location(file=script, line=3, function="step", source=source)
    given = TensorSummary(shape=(8, 4), dtype="float32", minimum=0.0, maximum=1.0, nan=0, inf=0, zeros=3)
    result = TensorSummary(shape=(8, 4), dtype="float32", minimum=-9.0, maximum=0.0, nan=0, inf=3, zeros=1)
    op = OpFact(
        op="aten.log.default",
        phase="forward",
        where=line,
        expression=f"torch.log({name})",
        called="log",
        operands=(Operand(name=name, tensor=given, value=0.0, made_by=("_softmax",), made_at=line),),
        result=result,
        bad=3,
        index=(0, 1),
        module=name,
    )
    layers = tuple(f"block.{layer}.weight" for layer in range(4))
    facts: list[Observation] = [
        LayersWatched(step=0, names=layers),
        Origin(step=steps, op=op, chain=(op,)),
        Trial(
            step=steps,
            suspect="argument of the logarithm",
            change=f"`{name}.clamp_min(1e-8)`",
            helps=True,
            loss=0.5,
            is_cure=True,
        ),
        SickStep(
            step=steps,
            what="loss",
            loss=math.nan,
            bad_parameters=layers[2:],
            parameters=4,
            backward_at=line,
            reproduced=True,
            way="the loop's own body was run again",
        ),
        Environment(python="3.11.7", torch="2.13.0", platform=script),
    ]
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text(f"import torch\ndef step({name}):\n{source}\n    return loss\n")
    points = training(steps - 1)
    return a_run_file(folder, facts, points, argv=(script,), steps=steps - 1, exit_code=1, stopped_by_us=True)


def a_check_up(folder: Path, name: str = "troponin") -> Path:
    """What the check-ups of data and memory saw, in one file."""
    facts: list[Observation] = [
        DataSource(source="labs.csv", format="csv", rows=1000, columns=2),
        TableColumn(source="labs.csv", column="age", type="BIGINT", family="number", rows=1000, minimum=1, maximum=99),
        TableColumn(
            source="labs.csv",
            column=name,
            type="DOUBLE",
            family="number",
            rows=1000,
            nulls=25,
            nan=3,
            constant="3.0",
            cells=(Cell(file="labs.csv", line=17, text=name),),
        ),
        ColumnHistogram(
            source="labs.csv",
            column="age",
            histogram=Histogram(low=1, high=99, counts=(3, 9, 40, 12, 1), below=2),
        ),
        LabelColumn(
            source="labs.csv", column="died", guessed=False, rows=1000, whole=True, classes=(("1", 40), ("0", 960))
        ),
        MemoryPlan(
            mode="fake-cuda",
            card="A100",
            steps=2,
            peak_allocated=3 << 30,
            peak_reserved=4 << 30,
            peak_requested=3 << 30,
            context=1 << 28,
            phase="backward",
            peak_step=2,
            by_category={"activations": 2 << 30, "parameters": 1 << 30},
            by_module=tuple(ModuleShare(module=f"{name}.layer{k}", bytes=(9 - k) << 27) for k in range(9)),
            course=tuple(
                MemoryMoment(phase=phase, by_category={"activations": k << 28, "parameters": 1 << 30})
                for phase, amounts in (("forward", range(8)), ("backward", range(8, 0, -1)), ("optimizer", (0, 0, 0)))
                for k in amounts
            ),
            phase_peaks={"forward": 2 << 30, "backward": 3 << 30, "optimizer": 1 << 30},
        ),
    ]
    return a_run_file(folder, facts, steps=2)


def a_hostile_run(folder: Path) -> Path:
    """Names as an attacker would choose them, wherever a user can choose one."""
    path = a_sick_run(folder, name=HOSTILE, script=HOSTILE)
    source = Source(
        origin="batch", name=f"batch[{HOSTILE!r}]", tensor=TensorSummary(shape=(2, 2), dtype=HOSTILE, nan=2)
    )
    metric = [MetricPoint(step=k, epoch=k, name=HOSTILE, value=k, source="log") for k in (1, 2, 3)]
    append(path / RUN_FILE, [Origin(step=1, op=OpFact(op="x", phase="forward"), source=source), *metric])
    with contextlib.closing(sqlite3.connect(path / RUN_FILE)) as db, db:
        rows = [(f"gradient/{HOSTILE}", step, 1.0) for step in (1, 2, 3)]
        db.executemany("INSERT INTO series VALUES (?, ?, ?)", rows)
    return path
