"""A state dict that was merged with a checkpoint holds nothing but the model's own tensors: no name fitted."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, StateLoaded
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, listed


class NothingNewLoaded(Rule):
    """After a file was read, the model was given back its own memory."""

    code = "WIR033"
    name = "nothing-new-loaded"
    symptoms = (Symptom.CHECKPOINT_DIFFERS, Symptom.SCORE_LOW)
    tell_apart = "every tensor given to `load_state_dict` is the model's own, right after a file was loaded"
    needs = (StateLoaded,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        yield from self._check_own(run)
        for seen in run.all(StateLoaded):
            if seen.file_loaded is None or seen.own != seen.given or seen.given < 2 or seen.steps_since:
                continue
            yield self.diagnose(
                headline=f"`load_state_dict` was given the model's own {seen.given} tensors: nothing was loaded",
                confidence="likely",
                step=seen.step,
                where=seen.where,
                label="no tensor of the checkpoint is in this state dict",
                also=also((seen.file_loaded, "the checkpoint was read here"), where=seen.where),
                culprit=Culprit(op="load_state_dict", module=seen.model, phase="setup"),
                evidence=(
                    f"all {seen.own} tensors share their memory with `{seen.model}`",
                    f"names that the model wants: {listed(seen.wanted_names, 3)}",
                ),
                remedies=(
                    Remedy(title="compare the names: a prefix such as `module.` or `model.` keeps all of them out"),
                    Remedy(title="load the checkpoint itself with `strict=True`"),
                ),
            )

    def _check_own(self, run: Run) -> Iterator[Diagnosis]:
        """`a.load_state_dict(a.state_dict())`, where another giver was meant."""
        found = [seen for seen in run.all(StateLoaded) if seen.between and seen.between[0] == seen.between[1]]
        if len(found) < 2 or any(seen.own != seen.given for seen in found):
            return
        name = found[0].between[0] if found[0].between else ""
        yield self.diagnose(
            headline=f"`{name}` loads its own state, {len(found)} times: nothing changes",
            confidence="proven",
            step=found[0].step,
            where=found[0].where,
            label="giver and taker are the same",
            culprit=Culprit(op="load_state_dict", module=name, phase="setup"),
            evidence=(f"all {found[0].own} tensors given share their memory with the module that loads them",),
            remedies=(
                Remedy(title=f"load the state of the model that is trained: `{name}.load_state_dict(….state_dict())`"),
            ),
        )
