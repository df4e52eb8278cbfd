"""TrainingArguments that ask for evaluations, and a Trainer that has nothing to evaluate on."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._frameworks import written_call
from torchmedic.rules.errors._reading import also, crash_in, said, user_line


class EvaluationWithoutData(Rule):
    """`eval_strategy` is set and `eval_dataset` is not given."""

    code = "ERR087"
    name = "evaluation-without-data"
    symptoms = (Symptom.CRASH,)
    tell_apart = "Transformers says that no `eval_dataset` was passed"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(
            crash,
            r"`args\.eval(?:uation)?_strategy` to (\S+) but you didn't pass an `eval_dataset`",
            r"(evaluation) requires an eval_dataset",
        )
        if crash is None or found is None:
            return
        strategy = found.group(1).rpartition(".")[2].lower()
        trainer = written_call(run, crash, "Trainer", "Seq2SeqTrainer")
        settings = written_call(run, crash, "TrainingArguments", "Seq2SeqTrainingArguments")
        where = trainer.place if trainer is not None else user_line(crash)
        asked = settings.line_of("eval_strategy", run) if settings is not None else None
        yield self.diagnose(
            headline=f"evaluation every {strategy} is asked for, but the Trainer has no `eval_dataset`",
            confidence="proven",
            where=where,
            label="no `eval_dataset` among its arguments",
            also=also((asked, "`eval_strategy` is set here"), but=where),
            culprit=Culprit(field="eval_dataset", phase="setup"),
            remedies=(
                Remedy(title="pass `eval_dataset=…` to the Trainer"),
                Remedy(
                    title='or set `eval_strategy="no"`; `load_best_model_at_end` and early stopping need evaluations'
                ),
            ),
        )
