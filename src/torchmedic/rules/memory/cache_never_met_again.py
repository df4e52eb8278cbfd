"""A cache without a bound, asked for something new at nearly every call."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FruitlessCache, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.memory._sizes import bytes_text


class CacheNeverMetAgain(Rule):
    """A cached function keeps every result, and its arguments hardly ever come back."""

    code = "MEM012"
    name = "cache-never-met-again"
    symptoms = (Symptom.MEMORY_GROWS, Symptom.DEATH)
    tell_apart = "memory grows by the same amount in every epoch, and `cache_info()` shows hardly a hit"
    needs = (FruitlessCache,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(FruitlessCache):
            name, argument, size = seen.function, seen.argument, bytes_text(seen.bytes)
            yield self.diagnose(
                headline=f"the cache of `{name}` keeps {seen.size} results ({size}) and grows",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                label=f"`{argument}` makes nearly every call a new one"
                if argument
                else "nearly every call is a new one",
                culprit=Culprit(op=seen.function, tensor=argument, phase="setup"),
                evidence=tuple(_evidence(seen)),
                remedies=tuple(_remedies(seen)),
            )


def _evidence(seen: FruitlessCache) -> Iterator[str]:
    if not seen.passes:
        yield f"all {seen.misses} calls were new, and each result was kept"
        yield f"`{seen.argument}` is a tensor: two tensors of the same values are two keys"
        return
    calls = seen.misses + seen.hits
    yield (
        f"in the last {seen.passes} passes over the data {seen.misses} of {calls} calls were new, and each result was "
        "kept"
    )
    if seen.argument:
        yield f"without `{seen.argument}` the calls repeat each other: it is a part of the key of the cache"


def _remedies(seen: FruitlessCache) -> Iterator[Remedy]:
    if not seen.passes:
        yield Remedy(title=f"key the results by what comes back, such as a sample's index, not by `{seen.argument}`")
    elif seen.argument:
        yield Remedy(title=f"cache what does not depend on `{seen.argument}`, and apply `{seen.argument}` afterwards")
    yield Remedy(title=f"or take the cache off `{seen.function}`, or give it a small `maxsize`")
