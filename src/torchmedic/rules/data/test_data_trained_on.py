"""An optimizer step on batches of the test loader."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LoaderSeen, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class TestDataTrainedOn(Rule):
    """The batches of a loader named for testing are followed by optimizer steps, like those of the training loader."""

    code = "DAT005"
    name = "test-data-trained-on"
    symptoms = (Symptom.SCORE_TOO_GOOD, Symptom.LOSS_EQUALS_TEST)
    tell_apart = "`optimizer.step()` runs on batches of the test loader"
    needs = (LoaderSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        loaders = list(run.all(LoaderSeen))
        others = [loader for loader in loaders if loader.stepped_at is None and loader.stepped >= loader.batches > 1]
        for loader in loaders:
            if loader.stepped_at is None or loader.stepped < max(2, loader.batches // 2) or not others:
                continue
            name = loader.names[0]
            yield self.diagnose(
                headline=f"the model is trained on `{name}`: {loader.stepped} optimizer steps on its batches",
                confidence="proven",
                step=loader.step,
                where=loader.stepped_at,
                label=f"updates weights on a batch of `{name}`",
                also=(Also(location=loader.built, why="held out by its name"),) if loader.built else (),
                culprit=Culprit(phase="optimizer", tensor=name),
                evidence=(
                    f"`{others[0].names[0] if others[0].names else 'another loader'}` is trained on as well "
                    f"({others[0].stepped} steps), so `{name}` is meant to be kept apart",
                ),
                remedies=(
                    Remedy(title="leave `backward()` and `step()` out of the evaluation, and run it under `no_grad`"),
                ),
            )
