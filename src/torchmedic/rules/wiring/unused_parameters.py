"""Parameters that took no part in the loss while `DistributedDataParallel` waited for their gradients."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, LayerBuilt, Location, Run, WrapperSeen
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._model_lines import line_that_uses

_WORDS = "Expected to have finished reduction in the prior iteration"
_INDICES = re.compile(r"did not receive grad[^:]*:\s*([\d ]+)")


class UnusedParameters(Rule):
    """The wrapper's own error, with the parameters' names and the line that would have used them."""

    code = "WIR098"
    name = "unused-parameters"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`Expected to have finished reduction in the prior iteration`"
    needs = (Crash,)
    folds = ("ERR", "diverged-parameters")
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = next((seen for seen in run.all(Crash) if _WORDS in seen.message), None)
        wrapper = run.first(WrapperSeen)
        if crash is not None and wrapper is None and crash.source == "text":
            yield self._told(crash)
        if crash is None or wrapper is None:
            return
        names = _names(crash.message, wrapper.names)
        if not names:
            return
        if names[0] in wrapper.strangers:
            yield self._replaced(crash, wrapper, names)
            return
        used = line_that_uses(run, names[0])
        born = _line_that_builds(run, names[0])
        where = used or born or wrapper.built
        yield self.diagnose(
            headline=f"{len(names)} parameters got no gradient, the first is `{names[0]}`",
            confidence="proven",
            where=where,
            label="not run in the last step, or not part of its loss"
            if used
            else "no line of the model uses it"
            if born
            else "waits for a gradient of every parameter",
            step=crash.step,
            also=(Also(location=wrapper.built, why="waits for a gradient of every parameter"),)
            if wrapper.built is not None and where != wrapper.built
            else (),
            culprit=Culprit(parameter=names[0], module=names[0].rpartition(".")[0]),
            evidence=(f"without a gradient: {', '.join(f'`{n}`' for n in names[:6])}",),
            remedies=(
                Remedy(title=f"let `{names[0].rpartition('.')[0] or names[0]}` take part in every loss, or remove it"),
                Remedy(title="if some steps leave it out on purpose: `find_unused_parameters=True`, at some cost"),
            ),
        )

    def _told(self, crash: Crash) -> Diagnosis:
        """Of a pasted text: the message may give the positions of the parameters, and no names."""
        found = _INDICES.search(crash.message)
        indices = found[1].split() if found else []
        return self.diagnose(
            headline=f"{len(indices)} parameters got no gradient in the last step, the first is number {indices[0]}"
            if indices
            else "some parameters got no gradient in the last step",
            confidence="proven",
            where=crash.user_frame.location if crash.user_frame is not None else None,
            label="the wrapper still waits for them here",
            culprit=Culprit(op="DistributedDataParallel", phase="backward"),
            evidence=(f"counted from 0 as `model.parameters()` gives them: {', '.join(indices[:6])}",) * bool(indices),
            remedies=(
                Remedy(
                    title="name them after `backward`: those of `model.named_parameters()` whose `grad` is None",
                ),
                Remedy(title="let every part take part in each loss: an auxiliary output that is left out does not"),
                Remedy(title="if some steps leave it out on purpose: `find_unused_parameters=True`, at some cost"),
            ),
        )

    def _replaced(self, crash: Crash, wrapper: WrapperSeen, names: list[str]) -> Diagnosis:
        """The wrapper waits for a gradient of a parameter that is no longer in the model."""
        built = wrapper.strangers[names[0]]
        also = (
            (Also(location=wrapper.built, why="wrapped here, with the old one"),) if wrapper.built is not None else ()
        )
        return self.diagnose(
            headline=f"`{names[0]}` was replaced after the model was wrapped: the old one has no gradient",
            confidence="proven",
            where=built or wrapper.built,
            label="built here, unknown to the wrapper" if built is not None else "wrapped here, with the old one",
            step=crash.step,
            also=also if built is not None else (),
            culprit=Culprit(parameter=names[0], module=names[0].rpartition(".")[0]),
            evidence=(f"without a gradient: {', '.join(f'`{n}`' for n in names[:6])}",),
            remedies=(Remedy(title="change the model first, then wrap it: `DistributedDataParallel(model)` last"),),
        )


def _names(message: str, names: tuple[str, ...]) -> list[str]:
    found = _INDICES.search(message)
    indices = [int(word) for word in found.group(1).split()] if found else []
    return [names[i] for i in indices if i < len(names)]


def _line_that_builds(run: Run, parameter: str) -> Location | None:
    """The user's line that makes the module of a parameter."""
    path = parameter.rpartition(".")[0]
    return next((built.location for built in run.all(LayerBuilt) if built.path.removeprefix("module.") == path), None)
