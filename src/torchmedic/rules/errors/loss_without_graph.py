"""`backward` from a tensor that no parameter leads to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, GradModeAtCrash, LayerBuilt, Location, ModelAtCrash, NothingLearns, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._cuts import Cut, Tracer
from torchmedic.rules.errors._filters import Unmatched, unmatched_words
from torchmedic.rules.errors._origins import Trail
from torchmedic.rules.errors._reading import also, crash_in, quoted, said, tensors, user_line
from torchmedic.rules.errors._rebinding import replacing_update
from torchmedic.rules.errors._syntax import Code, dotted

_MESSAGE = r"element \d+ of tensors does not require grad and does not have a grad_fn"
_PLAIN = r"'([\w.]*(?:float|int|ndarray)\w*)' object has no attribute 'backward'"


class LossWithoutGraph(Rule):
    """The loss was cut from the parameters on its way."""

    code = "ERR014"
    name = "loss-without-graph"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`backward` says that its tensor does not require grad"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        plain = said(crash, _PLAIN)
        if crash is None or line is None or (plain is None and said(crash, _MESSAGE) is None):
            return
        code = Code.of(run)
        root = _root(code, line)
        name = ast.unparse(root) if root is not None else "the loss"
        if plain is not None:
            yield self._plain_number(code, line, name, plain[1])
            return
        mode = run.last(GradModeAtCrash)
        if mode is not None and not mode.enabled:
            yield self._switched_off(code, line, name)
            return
        frozen = [m for m in run.all(ModelAtCrash) if m.parameters and not m.trainable]
        learning = [m for m in run.all(ModelAtCrash) if m.trainable]
        nothing = run.last(NothingLearns)
        if nothing is not None and (learning or _misnamed(run, code) is None):
            yield self._nothing_learns(line, name, nothing)
            return
        if frozen and not learning:
            yield self._frozen(run, code, line, name, frozen[0])
            return
        tracer = Tracer(run, crash)
        cut = tracer.plain_cut(root, line) or tracer.cut(root, line) if root is not None else None
        if cut is not None:
            yield self._cut(crash, line, name, cut)
            return
        replaced = replacing_update(code) if not learning else None
        yield self._replaced(line, name, *replaced) if replaced else self._unknown(crash, line, name)

    def _plain_number(self, code: Code, line: Location, name: str, kind: str) -> Diagnosis:
        born = Trail(code, _leaves_torch).of_name(name, line)
        where = born or line
        return self.diagnose(
            headline=f"{quoted(name)} is a plain `{kind}`: its graph was left behind on the way",
            confidence="proven",
            where=where,
            label="a number without a graph comes out of this" if born is not None else "",
            also=also((line, "`backward` is asked of it here"), but=where),
            culprit=Culprit(tensor=name, op="item", phase="forward"),
            evidence=("`.item()`, `float(…)` and NumPy give numbers that know nothing of the parameters",),
            remedies=(Remedy(title="keep the tensor for `backward`, and take `.item()` for what is printed or kept"),),
        )

    def _cut(self, crash: Crash, line: Location, name: str, cut: Cut) -> Diagnosis:
        return self.diagnose(
            headline=f"{quoted(name)} has no gradient: {cut.why}",
            confidence="proven" if _seen_cut(crash, cut) else "likely",
            where=cut.location,
            mark=cut.mark if cut.mark in cut.location.source else "",
            label=f"cuts `{cut.of}` off" if cut.of else "the graph ends here",
            also=also((line, "`backward` finds no graph here"), but=cut.location),
            culprit=Culprit(tensor=name, op=cut.mark.strip(".("), phase="forward"),
            evidence=tuple(_flags(crash)),
            remedies=(_cure(cut),),
        )

    def _frozen(self, run: Run, code: Code, line: Location, name: str, model: ModelAtCrash) -> Diagnosis:
        layers, wrong = _layers(run), _misnamed(run, code)
        made = wrong.written if wrong is not None else _freezing(code)
        where = made or line
        compared = wrong.compared if wrong is not None else None
        return self.diagnose(
            headline=f"{quoted(name)} has no gradient: all {model.parameters} parameters of `{model.name}` are frozen",
            confidence="proven",
            where=where,
            label=f"no layer is called `{wrong.word}`" if wrong is not None else "frozen here" if made else "",
            also=also(
                (compared, "compared with the names here"), (line, "`backward` finds nothing that learns"), but=where
            ),
            culprit=Culprit(tensor=name, module=model.name, phase="setup", op="requires_grad"),
            evidence=(
                f"0 of {model.parameters} parameters of `{model.name}` have `requires_grad=True`",
                *([f"its layers are {_outer(layers)}"] if wrong is not None else []),
            ),
            remedies=(
                Remedy(title=f"name a layer that is there instead of `{wrong.word}`: {_outer(layers)}")
                if wrong is not None
                else Remedy(title="leave the layers that should learn unfrozen: `p.requires_grad_(True)` on them"),
            ),
        )

    def _nothing_learns(self, line: Location, name: str, seen: NothingLearns) -> Diagnosis:
        new = seen.added[-1] if seen.added else None
        return self.diagnose(
            headline=f"{quoted(name)} has no gradient: all {seen.count} parameters of `{seen.optimizer}` are frozen"
            + (f", the new `{new.path}` too" if new else ""),
            confidence="proven" if not seen.learning else "likely",
            where=seen.where,
            label="sets `requires_grad` to False" + (f" when `{new.path}` is in the model already" if new else ""),
            also=also(
                *([(new.where, "put in before the freeze, and frozen with the rest")] if new else []),
                (seen.built, "the optimizer that is given them"),
                (line, "`backward` finds nothing that learns"),
                but=seen.where,
            )[:3],
            culprit=Culprit(tensor=name, parameter=seen.parameters[0], module=seen.model, phase="setup"),
            evidence=(
                f"{seen.learning} of {seen.of_model} parameters of `{seen.model}` have `requires_grad=True`",
                f"what `{seen.optimizer}` was given: {', '.join(f'`{p}`' for p in seen.parameters)}"
                + (", …" if seen.count > len(seen.parameters) else ""),
            ),
            remedies=(
                Remedy(title=f"freeze first, and put the new `{new.path}` into the model after that"),
                Remedy(title=f"or thaw it after the freeze: `{seen.model}.{new.path}.requires_grad_(True)`"),
            )
            if new
            else tuple(_thawing(seen)),
        )

    def _switched_off(self, code: Code, line: Location, name: str) -> Diagnosis:
        made = next((p for p, c in code.calls("set_grad_enabled") if "False" in ast.unparse(c)), None)
        where = made or line
        return self.diagnose(
            headline=f"{quoted(name)} has no gradient: gradients are switched off for the whole process",
            confidence="proven",
            where=where,
            label="switched off here" if made else "",
            also=also((line, "`backward` finds no graph here"), but=where),
            culprit=Culprit(tensor=name, op="set_grad_enabled", phase="setup"),
            evidence=("`torch.is_grad_enabled()` was False when the script died",),
            remedies=(Remedy(title="use `with torch.no_grad():` round the evaluation instead: it ends by itself"),),
        )

    def _replaced(self, line: Location, name: str, where: Location, weight: str) -> Diagnosis:
        return self.diagnose(
            headline=f"{quoted(name)} has no gradient: the update puts a new tensor in the place of `{weight}`",
            confidence="likely",
            where=where,
            label="the new tensor needs no gradient: it was made without a graph",
            also=also((line, "`backward` finds no graph here"), but=where),
            culprit=Culprit(tensor=weight, phase="update"),
            evidence=("what `no_grad` or `detach()` gives does not ask for gradients, as the weight before it did",),
            remedies=(
                Remedy(title="change the weight in place, under `torch.no_grad()`: `weight -= rate * weight.grad`"),
                Remedy(title="or ask for gradients again after every update: `.requires_grad_()`"),
            ),
        )

    def _unknown(self, crash: Crash, line: Location, name: str) -> Diagnosis:
        return self.diagnose(
            headline=f"{quoted(name)} has no gradient: no parameter takes part in it",
            confidence="likely",
            where=line,
            culprit=Culprit(tensor=name, phase="backward"),
            evidence=tuple(_flags(crash)),
            remedies=(
                Remedy(
                    title="look for `.detach()`, `.data`, `.item()`, `torch.tensor(…)`, `argmax` or `no_grad` "
                    "between the model's output and the loss"
                ),
            ),
        )


def _thawing(seen: NothingLearns) -> Iterator[Remedy]:
    """Of a part of the model, where the optimizer was given one part; else of whatever is to learn."""
    parts = {path.partition(".")[0] for path in seen.parameters}
    if len(parts) == 1 and seen.count < seen.of_model:
        part = f"{seen.model}.{min(parts)}"
        yield Remedy(title=f"thaw it after the freeze: `{part}.requires_grad_(True)`")
        yield Remedy(title=f"or freeze only what is not `{part}`")
    else:
        yield Remedy(title="leave the layers that should learn unfrozen: `p.requires_grad_(True)` on them")


def _root(code: Code, line: Location) -> ast.expr | None:
    """The expression whose `backward` was called."""
    for node in (n for statement in code.statements(line) for n in ast.walk(statement)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
            to_scale = isinstance(node.func.value, ast.Name) and node.args and "accelerator" in node.func.value.id
            inner = node.args[0] if to_scale or dotted(node.func) in ("self.manual_backward",) else node.func.value
            if isinstance(inner, ast.Call) and dotted(inner.func).endswith("scale") and inner.args:
                return inner.args[0]
            return inner
    return None


def _leaves_torch(node: ast.expr) -> bool:
    """A call that makes a number or an array of a tensor."""
    if not isinstance(node, ast.Call):
        return False
    word = dotted(node.func).rpartition(".")[2]
    is_method = isinstance(node.func, ast.Attribute) and word in ("item", "tolist", "numpy")
    return is_method or (dotted(node.func) in ("float", "int") and len(node.args) == 1)


def _outer(paths: tuple[str, ...]) -> str:
    """The outermost layers by name."""
    return ", ".join(f"`{name}`" for name in list(dict.fromkeys(p.partition(".")[0] for p in paths))[:6])


def _layers(run: Run) -> tuple[str, ...]:
    return tuple(dict.fromkeys(seen.path for seen in run.all(LayerBuilt) if seen.path))


def _misnamed(run: Run, code: Code) -> Unmatched | None:
    """A word in a filter over names that no layer has."""
    layers = _layers(run)
    return next(iter(unmatched_words(code, layers)), None) if layers else None


def _freezing(code: Code) -> Location | None:
    for place, call in code.calls("requires_grad_"):
        if call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value is False:
            return place
    for bound in code.attribute_assignments("requires_grad"):
        if isinstance(bound.value, ast.Constant) and bound.value.value is False:
            return bound.location
    return None


def _seen_cut(crash: Crash, cut: Cut) -> bool:
    """Whether a frame shows the operand with a gradient: then the cut is a fact."""
    return any(
        v.tensor is not None and v.tensor.requires_grad and v.name == cut.of
        for f in crash.frames
        if f.is_user
        for v in f.values
    )


def _flags(crash: Crash) -> Iterator[str]:
    found = [(n, t) for n, t in tensors(crash.user_frame) if t.device != "numpy" and t.dtype.startswith("float")]
    yes = [f"`{n}`" for n, t in found if t.requires_grad]
    no = [f"`{n}`" for n, t in found if not t.requires_grad]
    if yes:
        yield f"with a gradient: {', '.join(yes[:6])}"
    if no:
        yield f"without: {', '.join(no[:8])}"


def _cure(cut: Cut) -> Remedy:
    word = cut.mark.strip(".(")
    if word in ("detach", "data", "item", "tolist", "numpy"):
        return Remedy(
            title=f"drop `.{word}{'' if word == 'data' else '()'}` on the way to the loss; keep it for printing only"
        )
    if word.rpartition(".")[2] in ("tensor", "as_tensor", "FloatTensor", "Variable"):
        return Remedy(title=f"keep the tensor itself instead of `{word}(…)`; join several with `torch.stack`")
    if "no_grad" in word or "inference_mode" in word:
        return Remedy(title="compute the loss outside `no_grad`; keep that for evaluation")
    if word in ("argmax", "torch.argmax", "argmin", "long", "int", "bool") or word not in cut.why:
        return Remedy(title="give the loss the scores themselves, and use the hard decision for the accuracy only")
    return Remedy(title=f"use torch operations instead of `{word}` on the way to the loss")
