"""A last batch of one sample meets `squeeze()`, which drops the axis of the batch too."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, quoted, said, shape, tensors, user_line
from torchmedic.rules.errors._syntax import Code

_PATTERNS = (
    r"size mismatch \(got input: \[\d*\], target: \[1\]\)",
    r"input batch_size \(\d+\) to match target batch_size \(1\)",
    r"(?:target|input) size \(torch\.Size\(\[\]\)\)",
    r"Dimension out of range \(expected to be in range of \[-1, 0\]",
    r"expected 2D(?: or 3D)?(?: \([^)]*\))? input \(got [01]D input\)",
    r"too many indices for tensor of dimension [01]\b",
    r"iteration over a 0-d tensor|len\(\) of a 0-d tensor",
)

# Tensors before it in the list have an axis: the first would say that none has, as in a list of losses.
_JOINED = r"zero-dimensional tensor \(at position ([1-9]\d*)\) cannot be concatenated"
_JOINING = ("cat", "concat", "concatenate", "hstack")


class SingleSampleSqueezed(Rule):
    """A dimension is missing, the batch has one sample, and the way there holds a `squeeze` of every axis of one."""

    code = "ERR093"
    name = "single-sample-squeezed"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the batch that fails has a single sample, and the code says `squeeze()` without a dimension"
    needs = (Crash,)
    folds = ("loss-shape-mismatch", "missing-dimension", "unjoinable-shapes")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None:
            return
        joined = said(crash, _JOINED)
        if joined is not None:
            yield from self._of_joined(run, crash, line, joined[1])
        if said(crash, *_PATTERNS) is None:
            return
        lonely = [(n, t) for f in crash.frames if f.is_user for n, t in tensors(f) if t.shape[:1] == (1,)]
        batch = max(lonely, key=lambda found: len(found[1].shape), default=None)
        squeezes = list(_squeezes(Code.of(run)))
        if batch is None or len(batch[1].shape) < 2 or not squeezes:
            return
        size = shape(batch[1].shape)
        headline = f"`squeeze()` takes the axis of the batch: {quoted(batch[0])} {size} is one sample"
        yield self._told(headline, crash, line, squeezes, batch[0])

    def _of_joined(self, run: Run, crash: Crash, line: Location, position: str) -> Iterator[Diagnosis]:
        """Answers that were gathered batch by batch: that of a batch of one is a number."""
        squeezes, name = list(_squeezes(Code.of(run))), _gathered(Code.of(run), line)
        if squeezes and name is not None:
            headline = f"`squeeze()` takes the axis of the batch: item {position} of `{name}` is a single number"
            yield self._told(headline, crash, line, squeezes, name)

    def _told(self, headline: str, crash: Crash, line: Location, squeezes: list[Location], name: str) -> Diagnosis:
        where = squeezes[0]
        return self.diagnose(
            headline=headline,
            confidence="likely",
            where=where,
            label="drops every axis of length 1, that of a batch of one too",
            also=also((line, "fails here"), *((place, "the same") for place in squeezes[1:3]), but=where),
            culprit=Culprit(op="squeeze", tensor=name, phase="forward"),
            evidence=(f"the error: `{crash.message.strip().splitlines()[0]}`",),
            remedies=(
                Remedy(title="name the axis: `squeeze(-1)`, or `flatten(1)` after pooling"),
                Remedy(title="or leave the last short batch out: `DataLoader(…, drop_last=True)`"),
            ),
        )


def _gathered(code: Code, line: Location) -> str | None:
    """The list that a line joins, where it is a variable: one that is written out there says itself what is in it."""
    nodes = (
        [node for node in ast.walk(code.trees[line.file]) if isinstance(node, ast.Call)]
        if line.file in code.trees
        else []
    )
    calls = [c for c in nodes if c.args and c.lineno <= line.line <= (c.end_lineno or 0)]
    named = [c for c in calls if ast.unparse(c.func).rpartition(".")[2] in _JOINING]
    lists = [c.args[0] for c in named if isinstance(c.args[0], (ast.Name, ast.Attribute, ast.Subscript))]
    return ast.unparse(lists[0]) if lists else None


def _squeezes(code: Code) -> Iterator[Location]:
    """Every `squeeze` that names no axis; those inside of `forward` first."""
    found = [code.place(file, node) for file, tree in code.trees.items() for node in ast.walk(tree) if _is_bare(node)]
    yield from sorted(found, key=lambda place: "forward" not in place.function)


def _is_bare(node: ast.AST) -> bool:
    """`x.squeeze()` or `torch.squeeze(x)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.keywords:
        return False
    given = 1 if ast.unparse(node.func.value) == "torch" else 0
    return node.func.attr in ("squeeze", "squeeze_") and len(node.args) == given
