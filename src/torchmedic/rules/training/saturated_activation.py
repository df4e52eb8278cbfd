"""A sigmoid or tanh inside the model pressed to the ends of its range."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ActivationSeen, HeldTable, InputSeen, Run, TrainingCourse
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.data._columns import largest, table_behind
from torchmedic.rules.training._course import ending, is_simple, learned_nothing

_LEAST_SHARE = 0.95
_RECURRENT = ("lstm", "gru", "rnn_tanh")


class SaturatedActivation(Rule):
    """Nearly all outputs of an inner sigmoid or tanh lie at an end of its range, and nothing is learned."""

    code = "TRN004"
    name = "saturated-activation"
    severity = "warning"
    symptoms = (Symptom.LOSS_FLAT, Symptom.WEIGHTS_STILL)
    tell_apart = "an inner sigmoid or tanh is within 1 % of its ends for nearly all inputs"
    needs = (ActivationSeen, TrainingCourse)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        course = run.first(TrainingCourse)
        if course is None or not is_simple(course) or not learned_nothing(run, course, first=10):
            return
        for seen in run.all(ActivationSeen):
            pressed = len(seen.shares) >= 3 and min(seen.shares) >= _LEAST_SHARE
            if pressed and seen.op.removesuffix("_cell") in _RECURRENT:
                yield self._of_gates(run, seen, course)
                return
            if seen.op not in ("sigmoid", "tanh") or seen.is_last or not pressed:
                continue
            where = seen.fed_built or seen.where
            yield self.diagnose(
                headline=f"`{seen.op}` after `{seen.fed_by}` is saturated for {min(seen.shares):.0%} of its outputs",
                confidence="likely",
                step=seen.step,
                where=where,
                label=f"its output is too large for `{seen.op}`",
                also=(Also(location=seen.where, why=f"`{seen.op}` here"),)
                if seen.where and seen.where != where
                else (),
                culprit=Culprit(op=seen.op, phase="forward", module=seen.fed_by),
                evidence=(
                    f"so it was at steps {', '.join(map(str, seen.steps))}; the slope there is nearly 0, so that "
                    f"hardly any gradient passes",
                    f"the loss began at {course.head[0]:.4g} and is {ending(course):.4g} at the end",
                ),
                remedies=(
                    Remedy(title="scale the inputs to about zero mean and unit spread"),
                    Remedy(
                        title=f"or start `{seen.fed_by}` with smaller weights, or put a norm layer before `{seen.op}`"
                    ),
                ),
            )
            return

    def _of_gates(self, run: Run, seen: ActivationSeen, course: TrainingCourse) -> Diagnosis:
        table, fed = _unscaled(run, seen)
        where = table.made if table is not None else seen.fed_built or seen.where
        also = (
            (seen.fed_built, "its gates are saturated"),
            (fed.called if fed is not None else seen.where, "the model is given it"),
        )
        return self.diagnose(
            headline=f"the gates of `{seen.fed_by}` are saturated by the size of its input: {min(seen.shares):.0%}",
            confidence="likely",
            step=seen.step,
            where=where,
            label=f"`{table.name}` is made of unscaled columns"
            if table is not None
            else "what it is given is too large",
            also=tuple(Also(location=at, why=why) for at, why in also if at is not None and at != where),
            culprit=Culprit(op=seen.op, phase="forward", module=seen.fed_by),
            evidence=(
                f"so it was at steps {', '.join(map(str, seen.steps))}; a gate at its end lets hardly any gradient "
                f"pass, and does not tell one input from another",
                *_large(fed),
                f"the loss began at {course.head[0]:.4g} and is {ending(course):.4g} at the end",
            ),
            remedies=(
                Remedy(title="scale every column to zero mean and unit spread, with figures of the training part"),
            ),
        )


def _large(fed: InputSeen | None) -> Iterator[str]:
    """The largest column of the input, where columns are told apart."""
    if fed is not None and fed.means:
        column, _ = largest(fed)
        yield f"column {column} of the input: mean {fed.means[column]:.4g}, spread {fed.spreads[column]:.3g}"


def _unscaled(run: Run, seen: ActivationSeen) -> tuple[HeldTable | None, InputSeen | None]:
    """What the recurrent layer is given, where no layer is before it, and the table of the script behind that."""
    fed = next((one for one in run.all(InputSeen) if one.layer_built == seen.fed_built and one.means), None)
    return (table_behind(run, fed, largest(fed)[0]) if fed is not None else None), fed
