"""`load_state_dict(strict=False)` that matched nothing or next to nothing: the weights are still random."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, StateLoaded
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import listed


class CheckpointKeysSkipped(Rule):
    """The names of the checkpoint do not fit the model, and `strict=False` says nothing of it."""

    code = "WIR028"
    name = "checkpoint-keys-skipped"
    symptoms = (Symptom.CHECKPOINT_DIFFERS, Symptom.SCORE_LOW)
    tell_apart = "keys of the checkpoint were skipped under `strict=False`; a prefix or another name tells why"
    needs = (StateLoaded,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(StateLoaded):
            gained = seen.matched_without_prefix - seen.matched
            by_prefix = gained >= max(1, 0.5 * seen.given)
            if seen.strict or (seen.matched and not by_prefix and not seen.renamed) or seen.given < 2:
                continue
            prefix = seen.prefix_given or seen.prefix_wanted
            yield self.diagnose(
                headline=f"`load_state_dict(strict=False)` loaded {seen.matched} of {seen.given} tensors",
                confidence="proven" if by_prefix or not seen.matched else "likely",
                step=seen.step,
                where=seen.where,
                label="keys that do not fit are skipped without a word",
                culprit=Culprit(
                    op="load_state_dict", module=seen.model, parameter=(seen.missing or ("",))[0], phase="setup"
                ),
                evidence=(
                    f"the checkpoint has {listed(seen.unexpected, 3)}",
                    f"`{seen.model}` wants {listed(seen.missing, 3)}",
                    *(_prefix_note(seen, prefix) if by_prefix else _rename_note(seen)),
                ),
                remedies=_cures(seen, by_prefix),
            )


def _prefix_note(seen: StateLoaded, prefix: str) -> tuple[str, ...]:
    side = "the checkpoint's keys begin" if seen.prefix_given else "the model's keys begin"
    return (f"{side} with `{prefix}`; without it {seen.matched_without_prefix} of {seen.given} would fit",)


def _rename_note(seen: StateLoaded) -> tuple[str, ...]:
    pairs = ", ".join(f"`{old}` is now `{new}`" for old, new in seen.renamed[:3])
    return (f"the shapes say that layers were renamed: {pairs}; they keep their random first values",) if pairs else ()


def _cures(seen: StateLoaded, by_prefix: bool) -> tuple[Remedy, ...]:
    strict = Remedy(title="load with `strict=True`, or look at the `missing_keys` and `unexpected_keys` it returns")
    if by_prefix and seen.prefix_given:
        return (
            Remedy(title=f"strip the prefix: `{{k.removeprefix({seen.prefix_given!r}): v for k, v in state.items()}}`"),
            strict,
        )
    if by_prefix:
        return (
            Remedy(title=f"load into the part itself: `model.{seen.prefix_wanted.rstrip('.')}.load_state_dict(state)`"),
            strict,
        )
    if seen.renamed and seen.matched:
        old, new = (name.rpartition(".")[0] or name for name in seen.renamed[0])
        return (Remedy(title=f"rename the keys before loading: `k.replace({old!r}, {new!r})`"), strict)
    return (strict,)
