"""A checkpoint whose layers have other sizes than the model's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._checkpoints import Mismatch, mismatch
from torchmedic.rules.errors._filters import unmatched_words
from torchmedic.rules.errors._reading import also, crash_in, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_MOST_SHOWN = 5
_STATE = "state"


class CheckpointShapeMismatch(Rule):
    """All keys are there, but some have another shape."""

    code = "ERR053"
    name = "checkpoint-shape-mismatch"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`size mismatch for …: copying a param with shape …`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = mismatch(crash)
        if crash is None or found is None or not found.sizes or found.missing or found.unexpected:
            return
        key, saved, now = found.sizes[0]
        loaded = user_line(crash)
        code = Code.of(run)
        calls = [place for place, _ in code.calls(found.model.rpartition(".")[2])]
        built = calls[0] if len(calls) == 1 else None
        wrong = next(iter(unmatched_words(code, [key for key, *_ in found.sizes])), None)
        where = wrong.compared if wrong is not None else loaded
        yield self.diagnose(
            headline=f"`{key}` is {saved} in the checkpoint and {now} in the model",
            confidence="proven",
            where=where,
            label=f"{len(found.sizes)} parameters of `{found.model}` differ in shape"
            if wrong is None
            else f"`{wrong.word}` fits none of the {len(found.sizes)} that differ in shape",
            also=also((loaded if wrong else None, "loaded here"), (built, "the model is built here"), but=where),
            culprit=Culprit(module=key.rpartition(".")[0], parameter=key),
            evidence=tuple(_evidence(found)),
            remedies=(_renamed(found, wrong.word),) if wrong is not None else tuple(_remedies(found, code, loaded)),
        )


def _evidence(found: Mismatch) -> Iterator[str]:
    for key, saved, now in found.sizes[:_MOST_SHOWN]:
        yield f"`{key}`: saved {saved}, now {now}"
    if len(found.sizes) > _MOST_SHOWN:
        yield f"{len(found.sizes) - _MOST_SHOWN} more parameters differ"


def _renamed(found: Mismatch, word: str) -> Remedy:
    layer = found.sizes[0][0].rpartition(".")[0]
    return Remedy(title=f"leave out what is to be trained anew by its name: `{layer}`, not `{word}`")


def _remedies(found: Mismatch, code: Code, loaded: Location | None) -> Iterator[Remedy]:
    yield Remedy(title="build the model with the sizes of the checkpoint")
    layers = list(dict.fromkeys(key.rpartition(".")[0] for key, *_ in found.sizes))
    if len(layers) == 1:
        yield Remedy(
            title=f"or leave `{layers[0]}` out when it shall be trained anew (`strict=False` alone skips no shapes)",
            diff=_patch([key for key, *_ in found.sizes], code, loaded),
        )


def _patch(keys: list[str], code: Code, loaded: Location | None) -> str | None:
    """Lines to put before the user's own, which stays as it is but for its argument and `strict=False`."""
    statement = code.statement(loaded) if loaded is not None else None
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)] if statement is not None else []
    call = next((c for c in calls if dotted(c.func).endswith("load_state_dict") and len(c.args) == 1), None)
    if loaded is None or call is None or call.end_col_offset is None or call.lineno != call.end_lineno:
        return None
    line, given = code.line(loaded.file, call.lineno), call.args[0]
    text = line[given.col_offset : given.end_col_offset]
    state = text if isinstance(given, ast.Name) else _STATE
    strict = next((k for k in call.keywords if k.arg == "strict"), None)
    new = "".join((line[: given.col_offset], state, ", strict=False", line[call.end_col_offset - 1 :]))
    before, after = line.split("  #")[0].strip(), new.split("  #")[0].strip()
    if strict is not None and ast.unparse(strict.value) == "False" and state == text:
        after = before
    return "\n".join(
        [
            *([f"+ {_STATE} = {text}"] if state != text else []),
            f"+ for key in ({', '.join(map(repr, keys))},):",
            f"+     {state}.pop(key)",
            *([f"- {before}", f"+ {after}"] if after != before else []),
        ]
    )
