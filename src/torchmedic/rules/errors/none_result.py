"""A value that is None because the function that made it returns nothing."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, NoneOrigin, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line


class NoneResult(Rule):
    """A None was used as an object; the function that returned it is known."""

    code = "ERR048"
    name = "none-result"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`'NoneType' object …`, or `must be Tensor, not NoneType`, on a result of a function of the user's"
    needs = (Crash, NoneOrigin)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        seen = run.last(NoneOrigin)
        if crash is None or seen is None or not said(crash, "NoneType"):
            return
        if seen.returns == 0:
            yield self._no_return(seen, crash)
        elif seen.is_inplace_method:
            yield self._in_place(seen, crash)
        elif seen.maker and seen.returns:
            yield self._some_path(seen, crash)

    def _no_return(self, seen: NoneOrigin, crash: Crash) -> Diagnosis:
        showed = user_line(crash)
        return self.diagnose(
            headline=f"`{seen.maker}` has no `return`, so `{seen.expression}` is None",
            confidence="proven",
            where=seen.maker_end,
            label="the function ends here and returns None",
            also=also((seen.assigned, "its result is kept here"), (showed, "and needed here"), but=seen.maker_end),
            culprit=Culprit(module=seen.maker, tensor=seen.expression),
            evidence=(f"`{seen.maker}` starts at {seen.maker_defined} and holds no `return` with a value",),
            remedies=(Remedy(title=f"end `{seen.maker}` with `return` and its result"),),
        )

    def _in_place(self, seen: NoneOrigin, crash: Crash) -> Diagnosis:
        where = seen.assigned or user_line(crash)
        return self.diagnose(
            headline=f"`{seen.maker}` works in place and returns None, which `{seen.expression}` now is",
            confidence="likely",
            where=where,
            label="keeps the None",
            also=also((user_line(crash), "needed here"), but=where),
            culprit=Culprit(tensor=seen.expression),
            remedies=(Remedy(title=f"call `{seen.maker}(…)` on a line of its own and go on with the object itself"),),
        )

    def _some_path(self, seen: NoneOrigin, crash: Crash) -> Diagnosis:
        showed = user_line(crash)
        return self.diagnose(
            headline=f"`{seen.maker}` returned None, so `{seen.expression}` has no value",
            confidence="proven",
            where=seen.maker_defined,
            label=f"{seen.returns} `return` with a value, and a path without",
            also=also((seen.assigned, "its result is kept here"), (showed, "and needed here"), but=seen.maker_defined),
            culprit=Culprit(module=seen.maker, tensor=seen.expression),
            remedies=tuple(_path_cures(seen)),
        )


def _path_cures(seen: NoneOrigin) -> Iterator[Remedy]:
    yield Remedy(title=f"return a value on every path of `{seen.maker}`, or raise an exception with a reason")
    yield Remedy(title=f"or test the result before it is used: `if {seen.expression} is not None`")
