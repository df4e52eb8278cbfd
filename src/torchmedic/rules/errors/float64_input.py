"""float64 from NumPy or Python floats meets float32 weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Run, TensorSummary, WideSample
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._dtypes import first_holding, kinds_said
from torchmedic.rules.errors._origins import Trail
from torchmedic.rules.errors._reading import also, crash_in, layer_in, layer_name, quoted, tensors, user_line
from torchmedic.rules.errors._syntax import Code, dotted

_MAKERS = ("from_numpy", "tensor", "as_tensor", "asarray", "array", "double", "DoubleTensor")
_NARROW = ("float32", "FloatTensor", ".float()", "bfloat16", "float16", ".half()", "long", "int64", ".int(", "bool")


class Float64Input(Rule):
    """A float64 tensor and float32 weights in one operation."""

    code = "ERR007"
    name = "float64-input"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message sets Double against Float"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        kinds = kinds_said(crash)
        if crash is None or kinds is None or set(kinds) != {"float64", "float32"}:
            return
        line = user_line(crash)
        held = first_holding(crash, "float64")
        layer = layer_in(crash)
        named = held[1] if held is not None else "the input"
        trail = Trail(Code.of(run), _makes_float64, _converts)
        born = trail.of_name(_plain(named), held[0].location) if held is not None else None
        sample = _sample(run, held[2]) if held is not None and born is None else None
        born = sample.born if sample is not None else born
        where = born or line
        yield self.diagnose(
            headline=f"{quoted(named)} is float64, but "
            + (f"`{layer_name(layer)}` has float32 weights" if layer is not None else "it meets float32 here"),
            confidence="proven",
            where=where,
            label="float64 is born here" if born is not None else "",
            also=also((line, "and meets float32 here"), but=where),
            culprit=Culprit(
                tensor=named, module=layer_name(layer) if layer else None, phase="data" if born else "forward"
            ),
            evidence=(*_seen_again(sample), *_evidence(crash, born is not None)),
            remedies=(*_cures_of(sample), _cure(named, born.source if born is not None else "")),
        )


def _sample(run: Run, held: TensorSummary) -> WideSample | None:
    """The field of the data set that the tensor is a batch of."""
    fitting = [seen for seen in run.all(WideSample) if seen.shape in (held.shape[1:], held.shape)]
    made = {(seen.born.file, seen.born.line) for seen in fitting}
    return fitting[0] if len(made) == 1 else None


def _seen_again(sample: WideSample | None) -> Iterator[str]:
    if sample is None:
        return
    sizes = f"[{', '.join(map(str, sample.shape))}]"
    if sample.of == "batch":
        yield f"`{sample.path}` of `{sample.dataset}`, collated again, becomes float64 on this line"
    elif sample.form == "float":
        yield f"`{sample.path}` of `{sample.dataset}` is a Python float, and collating makes float64 of it"
    else:
        yield f"`{sample.path}` of `{sample.dataset}`, fetched again, is float64{sizes} from this line on"


def _cures_of(sample: WideSample | None) -> Iterator[Remedy]:
    if sample is not None and sample.form == "ndarray":
        yield Remedy(title="convert where it is born: `.astype(np.float32)`")
    elif sample is not None:
        word = "`torch.tensor(…, dtype=torch.float32)`" if sample.form == "float" else "`.float()`"
        yield Remedy(title=f"convert where it is born: {word}")


def _plain(name: str) -> str:
    return name.partition("[")[0]


def _makes_float64(node: ast.expr) -> bool:
    """A call that hands float64 on: from NumPy, by name, or by `.double()`; not one that names a narrower type."""
    if not isinstance(node, ast.Call):
        return False
    text = ast.unparse(node)
    word = dotted(node.func).rpartition(".")[2]
    if "float64" in text or word == "double" or "torch.double" in text:
        return True
    return word in _MAKERS[:5] and not any(narrow in text for narrow in _NARROW)


def _converts(node: ast.expr) -> bool:
    """A call whose last word names another type: what goes in as float64 does not come out as one."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    said = f".{node.func.attr}({', '.join(ast.unparse(a) for a in (*node.args, *(k.value for k in node.keywords)))})"
    return node.func.attr not in _MAKERS and any(narrow in said for narrow in _NARROW)


def _evidence(crash: Crash, born: bool) -> Iterator[str]:
    arrays = [(n, t) for f in crash.frames if f.is_user for n, t in tensors(f) if t.device == "numpy"]
    wide = [f"`{n}` {t}" for n, t in dict(arrays).items() if t.dtype == "float64"]
    if wide:
        yield f"float64 arrays in sight: {', '.join(wide[:4])}"
    if not born or wide:
        yield "float64 is the default of NumPy, and collating Python floats gives it as well"


def _cure(name: str, source: str) -> Remedy:
    text = source.split("  #")[0].strip()
    for maker in ("from_numpy", "tensor", "as_tensor"):
        at = text.find(f"torch.{maker}(")
        if at >= 0 and text.count("(") == text.count(")"):
            call = _call_text(text[at:])
            return Remedy(
                title=f"convert where it is born: `{call}.float()`",
                diff=f"- {text}\n+ {text.replace(call, call + '.float()')}",
            )
    if " " in name:
        return Remedy(title="convert it once, before the model, with `.float()`")
    return Remedy(title=f"convert once, before the model: `{_plain(name)} = {_plain(name)}.float()`")


def _call_text(text: str) -> str:
    """The call that a text begins with, up to its closing bracket."""
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == ")" and depth == 0:
            return text[: i + 1]
    return text
