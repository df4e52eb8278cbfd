"""Several ranks write the same file."""

from __future__ import annotations

import os
from collections.abc import Iterator

from torchmedic.facts import FileSaved, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._calls import ranks_text


class OneFileFromAllRanks(Rule):
    """`torch.save` was called for one path on several ranks of one machine."""

    code = "WIR097"
    name = "one-file-from-all-ranks"
    severity = "warning"
    symptoms = (Symptom.CHECKPOINT_DIFFERS, Symptom.CRASH)
    tell_apart = "one path, several ranks that save to it"
    needs = (FileSaved,)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        savers: dict[tuple[str, str], dict[int, FileSaved]] = {}
        for rank in run.ranks:
            for seen in rank.all(FileSaved):
                savers.setdefault((rank.info.host, seen.path), {}).setdefault(rank.info.rank, seen)
        for (_, path), by_rank in savers.items():
            if len(by_rank) < 2:
                continue
            first = next(iter(by_rank.values()))
            yield self.diagnose(
                headline=f"{ranks_text(sorted(by_rank))} save to the same file `{os.path.basename(path)}`",
                confidence="proven",
                where=first.where,
                label="runs on several ranks",
                step=first.step,
                culprit=Culprit(op="torch.save", tensor=path),
                evidence=("they write at the same time: who comes last wins, and a reader may find half a file",),
                remedies=(
                    Remedy(title="save under `if rank == 0:`, and let the others wait in `dist.barrier()` after it"),
                ),
            )
