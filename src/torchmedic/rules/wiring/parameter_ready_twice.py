"""A parameter whose gradient is finished twice in one backward of `DistributedDataParallel`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Run, WrapperSeen
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._model_lines import line_that_uses

_SAID = re.compile(r"(?s)ready only once.*Parameter at index (\d+)(?: with name (\S+))? has been marked as ready twice")


class ParameterReadyTwice(Rule):
    """The wrapper's own error, with the parameter and the line of the model that runs it a second time."""

    code = "WIR116"
    name = "parameter-ready-twice"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`Expected to mark a variable ready only once`"
    needs = (Crash, WrapperSeen)
    folds = ("ERR", "diverged-parameters")
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = next((seen for seen in run.all(Crash) if _SAID.search(seen.message)), None)
        wrapper = run.first(WrapperSeen)
        found = _SAID.search(crash.message) if crash is not None else None
        if crash is None or wrapper is None or found is None:
            return
        index = int(found[1])
        parameter = found[2] or (wrapper.names[index] if index < len(wrapper.names) else "")
        rerun = line_that_uses(run, parameter, within="checkpoint")
        where = rerun or line_that_uses(run, parameter) or wrapper.built
        yield self.diagnose(
            headline=f"the gradient of `{parameter}` is finished twice in one backward",
            confidence="proven" if rerun is not None else "likely",
            where=where,
            label="run again in a backward of its own" if rerun is not None else "part of more than one backward",
            step=crash.step,
            also=(Also(location=wrapper.built, why="exchanges each gradient once"),)
            if wrapper.built is not None and wrapper.built != where
            else (),
            culprit=Culprit(parameter=parameter, module=parameter.rpartition(".")[0], phase="backward"),
            evidence=tuple(_evidence(wrapper, is_rerun=rerun is not None)),
            remedies=tuple(_cures(wrapper, is_rerun=rerun is not None)),
        )


def _evidence(wrapper: WrapperSeen, *, is_rerun: bool) -> Iterator[str]:
    yield "the exchange of a gradient begins when it is finished, and can begin once per step"
    if is_rerun:
        yield "a reentrant checkpoint runs its part in a backward of its own, outside the graph that the wrapper sees"
    if wrapper.finds_unused:
        yield "`find_unused_parameters=True` has marked it as unused already"


def _cures(wrapper: WrapperSeen, *, is_rerun: bool) -> Iterator[Remedy]:
    if is_rerun:
        yield Remedy(title="keep the checkpoint in the graph: `checkpoint(..., use_reentrant=False)`")
        if wrapper.finds_unused:
            yield Remedy(title="or leave out `find_unused_parameters=True` where every parameter is used in every step")
        return
    yield Remedy(title="use the parameter in one call of the wrapper per backward, and nowhere beside it")
    yield Remedy(title="run all parts that share it in one `forward`, and add their losses before one `backward()`")
