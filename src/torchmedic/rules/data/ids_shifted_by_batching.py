"""Ids that are in range in every graph, and beyond the table once PyG has put graphs into a batch."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, IdsShifted, IndexOutside, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, user_line


class IdsShiftedByBatching(Rule):
    """An attribute whose name contains `index` is shifted by the number of nodes of the graphs before."""

    code = "DAT240"
    name = "ids-shifted-by-batching"
    symptoms = (Symptom.CRASH,)
    tell_apart = "ids of graphs are in range one by one, and too large in a batch of several"
    needs = (Crash, IdsShifted, IndexOutside)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash, seen, outside = crash_in(run), run.first(IdsShifted), run.first(IndexOutside)
        line = user_line(crash) if crash is not None else None
        where = seen.made or line if seen is not None else None
        if seen is None or outside is None or where is None:
            return
        yield self.diagnose(
            headline=f"batching has added numbers of nodes to `{seen.attribute}`: {outside.value} is no id",
            confidence="proven",
            where=where,
            label="a name with `index` in it is taken for numbers of nodes",
            step=seen.step,
            also=also((line, f"looked up here, with {outside.bound} rows"), but=where),
            culprit=Culprit(op="embedding", phase="data", field=seen.attribute),
            evidence=(
                f"in each of the {seen.graphs} graphs alone `{seen.attribute}` lies between {seen.minimum} and "
                f"{seen.maximum}, which is in range; in the batch it goes up to {outside.maximum}",
                f"`Data.__inc__` tells PyG by the name what to add: for the last graph that was {seen.offset}, "
                "the number of nodes before it",
            ),
            remedies=(
                Remedy(title=f"rename it: `{seen.attribute.replace('index', 'id')}` is put together as it is"),
                Remedy(title=f"or return 0 for `{seen.attribute}` in an `__inc__` of your own subclass of `Data`"),
            ),
        )
