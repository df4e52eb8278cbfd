"""A layer that puts out 0 whatever it is shown."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ActivationSeen, Run, TrainingCourse
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_ALL = 0.9995


class DeadActivation(Rule):
    """All outputs of a rectifier are 0, for all samples, in the last steps looked at."""

    code = "TRN003"
    name = "dead-activation"
    symptoms = (Symptom.LOSS_FLAT, Symptom.WEIGHTS_STILL)
    tell_apart = "a ReLU puts out nothing but 0, so that no gradient passes it"
    needs = (ActivationSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        dead = [seen for seen in run.all(ActivationSeen) if _is_dead(seen)]
        if not dead:
            return
        first = min(dead, key=lambda seen: _since(seen))
        since = _since(first)
        from_start = first.shares[0] >= _ALL
        course = run.first(TrainingCourse)
        blame = (first.bias_set or first.fed_built) if from_start else None
        where = blame or (first.layer_built if first.layer and not first.direct and first.layer_built else first.where)
        yield self.diagnose(
            headline=f"`{first.op}` after `{first.fed_by}` puts out 0 for every input "
            + ("from the start" if from_start else f"since step {since}"),
            confidence="proven",
            step=since,
            where=where,
            label=f"`{first.fed_by}` feeds nothing but negative numbers" if from_start else "all outputs are 0",
            also=(Also(location=first.where, why=f"`{first.op}` here"),)
            if first.where and first.where != where
            else (),
            culprit=Culprit(op=first.op, phase="forward", module=first.fed_by),
            evidence=tuple(_evidence(first, dead, course, from_start)),
            remedies=tuple(_remedies(first, course, from_start)),
        )


def _is_dead(seen: ActivationSeen) -> bool:
    return seen.op.startswith("relu") and len(seen.shares) >= 3 and all(share >= _ALL for share in seen.shares[-2:])


def _since(seen: ActivationSeen) -> int:
    """The first step looked at from which on all outputs were 0."""
    since = seen.steps[-1]
    for step, share in zip(reversed(seen.steps), reversed(seen.shares), strict=True):
        if share < _ALL:
            break
        since = step
    return since


def _evidence(
    seen: ActivationSeen, dead: list[ActivationSeen], course: TrainingCourse | None, from_start: bool
) -> Iterator[str]:
    shares = ", ".join(f"{share:.1%}" for share in seen.shares)
    yield f"share of zeros at steps {', '.join(map(str, seen.steps))}: {shares}"
    if from_start and seen.bias is not None and (seen.bias_set is not None or seen.bias[1] < -1):
        yield f"the bias of `{seen.fed_by}` lies in [{seen.bias[0]:.3g}, {seen.bias[1]:.3g}] at the start"
    yield "no gradient passes an output of 0: the layers before it do not learn any more"
    if len(dead) > 1:
        yield f"{len(dead)} activations are dead in all"
    if not from_start and course is not None and course.ratios:
        yield f"the first updates changed weights by up to {max(course.ratios[:5]):.0%}, with lr={course.first_lr:g}"


def _remedies(seen: ActivationSeen, course: TrainingCourse | None, from_start: bool) -> Iterator[Remedy]:
    if from_start:
        yield Remedy(title=f"look at the bias of `{seen.fed_by}` and at the scale of its input: both decide the sign")
    elif course is not None and course.first_lr:
        yield Remedy(title=f"lower the learning rate from {course.first_lr:g}, or clip gradients")
    yield Remedy(title="use LeakyReLU or GELU, which pass a gradient on the negative side")
