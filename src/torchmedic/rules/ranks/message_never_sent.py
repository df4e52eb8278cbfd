"""Ranks that all receive and none of which sends."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, Standing, standing_of
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._calls import ranks_text

_RECEIVING = frozenset(("recv", "recv_object_list"))


class MessageNeverSent(Rule):
    """Every rank stands in a receive between two: whoever should send waits for a message itself."""

    code = "RNK026"
    name = "message-never-sent"
    symptoms = (Symptom.STUCK,)
    tell_apart = "all ranks stand in `recv`, and none is on its way to a `send`"
    needs = ()
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        standing = {part.info.rank: standing_of(part) for part in run.ranks}
        receiving = {rank: at for rank, at in standing.items() if at is not None and at.call in _RECEIVING}
        told = [rank for rank, at in receiving.items() if at.patience > 0]
        if len(receiving) < 2 or len(receiving) < len(standing) or not told:
            return
        first = receiving[told[0]]
        yield self.diagnose(
            headline=f"{ranks_text(sorted(receiving))} all wait in `{first.call}`, and nobody sends",
            confidence="proven",
            where=first.where,
            label="receives before it sends",
            step=first.step,
            also=tuple(_elsewhere(receiving, first)),
            culprit=Culprit(op=first.call),
            evidence=("every rank stands in a receive: the send of each would come behind it, and is never reached",),
            remedies=(
                Remedy(title="let one of each pair send first: `if rank % 2 == 0: send … recv … else: recv … send …`"),
                Remedy(title="or start both without waiting: `isend` and `irecv`, then `wait` for both"),
            ),
        )


def _elsewhere(receiving: dict[int, Standing], first: Standing) -> Iterator[Also]:
    """The lines at which other ranks receive."""
    for rank, at in receiving.items():
        if at.where is not None and at.where != first.where:
            yield Also(location=at.where, why=f"rank {rank} receives here")
