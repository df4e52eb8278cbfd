"""A name that is not defined: misspelt, or never imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Assignment, Code

_UNDEFINED = r"^name '(?P<name>\w+)' is not defined"
_USUAL_IMPORTS = {
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "optim": "from torch import optim",
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "plt": "import matplotlib.pyplot as plt",
    "DataLoader": "from torch.utils.data import DataLoader",
    "Dataset": "from torch.utils.data import Dataset",
    "TensorDataset": "from torch.utils.data import TensorDataset",
    "tqdm": "from tqdm import tqdm",
    "Path": "from pathlib import Path",
    "os": "import os",
    "math": "import math",
    "random": "import random",
    "time": "import time",
    "json": "import json",
    "partial": "from functools import partial",
    "defaultdict": "from collections import defaultdict",
}


class MisspelledName(Rule):
    """NameError with a near match or a well-known import."""

    code = "ERR044"
    name = "misspelled-name"
    symptoms = (Symptom.CRASH,)
    tell_apart = "NameError where a name close by exists, or where a usual import is missing"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, _UNDEFINED)
        if crash is None or found is None:
            return
        name = found.group("name")
        near = crash.near_names[0] if crash.near_names else ""
        known = _USUAL_IMPORTS.get(name, "")
        if not near and not known:
            yield self._of_nowhere(run, crash, name)
            return
        yield self.diagnose(
            headline=_headline(name, "" if known else near),
            confidence="proven",
            where=user_line(crash),
            mark=name,
            label=f"`{near}`?" if near and not known else "not imported",
            culprit=Culprit(tensor=name, examples=crash.near_names),
            evidence=(f"names close to `{name}`: " + ", ".join(f"`{n}`" for n in crash.near_names),) if near else (),
            remedies=(Remedy(title=f"add `{known}` at the top of the file" if known else f"write `{near}`"),),
        )

    def _of_nowhere(self, run: Run, crash: Crash, name: str) -> Diagnosis:
        """Nothing close by: the name may belong to another function."""
        line, code = user_line(crash), Code.of(run)
        here = code.scope(line) if line is not None else None
        others = [
            Assignment(code.place(file, node), "assign", node)
            for file, tree in code.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        ]
        other = next((a.location for a in others if code.scope(a.location) is not here and a.location.function), None)
        inside = f"`{other.function}`" if other is not None else ""
        return self.diagnose(
            headline=f"`{name}` is not defined here" + (f", only inside {inside}" if inside else ""),
            confidence="proven",
            where=line,
            mark=name if line is not None and name in line.source else "",
            also=also((other, "a variable of this function alone"), but=line),
            culprit=Culprit(tensor=name),
            remedies=(
                Remedy(title=f"return it from {inside} and pass it on as an argument")
                if inside
                else Remedy(title=f"give `{name}` a value on every way that leads to this line, or import it"),
            ),
        )


def _headline(name: str, near: str) -> str:
    return f"`{name}` is not defined" + (f", the nearest name is `{near}`" if near else " and nothing imports it")
