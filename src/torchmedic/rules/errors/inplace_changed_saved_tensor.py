"""A tensor that backward still needs was changed in place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.facts import Crash, InplaceChange, InplaceClash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, quoted, said, shape, user_line
from torchmedic.rules.errors._syntax import Code, dotted, dotted_names

_MESSAGE = r"modified by an inplace operation"
_FACTS = (
    r"\[torch\.\S*Tensor \[([\d, ]*)\]\], which is output \d+ of (\w+), is at version (\d+); expected version (\d+)"
)
_OPERATORS = {ast.Add: "Add", ast.Sub: "Sub", ast.Mult: "Mul", ast.Div: "Div", ast.Pow: "Pow"}
_NOT_IN_PLACE = ("requires_grad_", "retain_grad_", "zero_", "share_memory_", "__")
_GOOD_ENOUGH = 2


@dataclass(frozen=True)
class Change:
    """An in-place statement: its line, the name it changes, the autograd node it leaves, the words that do it."""

    location: Location
    name: str
    node: str
    words: str
    score: int = 0


class InplaceChangedSavedTensor(Rule):
    """An in-place statement between the use of a tensor and its backward."""

    code = "ERR012"
    name = "inplace-changed-saved-tensor"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message gives two versions of a tensor"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, _FACTS)
        line = user_line(crash) if crash is not None else None
        if crash is None or line is None or said(crash, _MESSAGE) is None:
            return
        fact = run.last(InplaceClash) or _from_text(match)
        code = Code.of(run)
        seen = run.last(InplaceChange)
        if seen is not None and not seen.by_optimizer and (change := _change_seen(code, seen)) is not None:
            yield self._seen(fact, seen, change, line)
            return
        stepped = next((h for h in fact.holders if h.kind == "parameter"), None)
        step = seen.where if seen is not None else _optimizer_step(code, line)
        used = seen.saved_by if seen is not None and seen.by_optimizer else ""
        if step is not None and (stepped is not None or used):
            name = stepped.name if stepped is not None else used.partition("(")[0]  # the layer, for its weights
            versions = f"`{stepped.name}` {shape(stepped.shape)} is at version {stepped.version}" if stepped else ""
            yield self._stepped(fact, name, step, line, versions, _older_results(code, step, line))
            return
        change = _likeliest(code, fact)
        if change is not None:
            yield self._changed(fact, change, line)
        else:
            yield self._unknown(fact, line)

    def _seen(self, fact: InplaceClash, seen: InplaceChange, change: Change, line: Location) -> Diagnosis:
        """The script ran again, and the operation was met at its work."""
        called = seen.where if seen.where != change.location else None
        is_named = change.name in change.words or seen.layer_built is not None
        return self.diagnose(
            headline=f"`{change.words}` changed in place what `backward` still needs"
            if is_named
            else f"`{change.words}` changed {quoted(change.name)} in place, which `backward` still needs",
            confidence="proven",
            where=change.location,
            mark=change.words if change.words in change.location.source else "",
            label=f"version {seen.expected} was saved, this makes it version {seen.expected + 1}",
            also=also(
                (seen.saved_at, "this needs the tensor as it was"),
                (called, "the layer is called here"),
                (line, "`backward` found the change here"),
                but=change.location,
            ),
            culprit=Culprit(tensor=change.name, op=_plain_op(seen.op), phase="forward"),
            evidence=tuple(_seen_evidence(fact, seen)),
            remedies=(_cure(change),),
        )

    def _changed(self, fact: InplaceClash, change: Change, line: Location) -> Diagnosis:
        known = any(h.name == change.name for h in fact.holders)
        return self.diagnose(
            headline=f"`{change.words}` changed {quoted(change.name)} in place, which `backward` still needs",
            confidence="proven" if known and change.score > _GOOD_ENOUGH else "likely",
            where=change.location,
            mark=change.words if change.words in change.location.source else "",
            label=f"version {fact.expected} was saved, version {fact.version} is here now",
            also=also((line, "`backward` found the change here"), but=change.location),
            culprit=Culprit(tensor=change.name, op=change.words, phase="backward"),
            evidence=tuple(_evidence(fact)),
            remedies=(_cure(change),),
        )

    def _stepped(
        self, fact: InplaceClash, name: str, step: Location, line: Location, versions: str, older: list[tuple[str, str]]
    ) -> Diagnosis:
        call = step.source.strip().split("  #")[0]
        return self.diagnose(
            headline=f"`{call}` changed `{name}` before this `backward` had used it",
            confidence="proven",
            where=step,
            label="the weights are changed here",
            also=also((line, "and their old values are needed here"), but=step),
            culprit=Culprit(parameter=name, op="optimizer.step", phase="backward"),
            evidence=(*_evidence(fact), *([versions] if versions else [])),
            remedies=(
                *(Remedy(title=f"compute `{made}` anew after the step: `{made} = {text}`") for made, text in older),
                Remedy(title="run every `backward` that goes through these weights before the first `step`"),
                Remedy(title="or compute the second loss anew, after the step"),
            )[: 1 if older else None],
        )

    def _unknown(self, fact: InplaceClash, line: Location) -> Diagnosis:
        made = f" of `{_word(fact.operation)}`" if fact.operation else ""
        return self.diagnose(
            headline=f"an output{made} was changed in place before `backward` had used it",
            confidence="likely",
            where=line,
            culprit=Culprit(op=fact.operation or None, phase="backward"),
            evidence=tuple(_evidence(fact)),
            remedies=(
                Remedy(
                    title="look for `+=`, `x[…] = …`, `…_()` and `inplace=True` on it, and make a new tensor instead"
                ),
            ),
        )


def _from_text(match: re.Match[str] | None) -> InplaceClash:
    if match is None:
        return InplaceClash()
    sizes = tuple(int(n) for n in match[1].split(",") if n.strip())
    return InplaceClash(operation=match[2], shape=sizes, version=int(match[3]), expected=int(match[4]))


def _plain(operation: str) -> str:
    return re.sub(r"Backward\d*$", "", operation)


def _word(operation: str) -> str:
    return _plain(operation).lower() or operation


def _evidence(fact: InplaceClash) -> Iterator[str]:
    if fact.operation:
        yield (
            f"the changed tensor {shape(fact.shape)} is an output of `{_word(fact.operation)}`: "
            f"saved at version {fact.expected}, now at version {fact.version}"
        )
    if fact.consumers:
        yield f"in the graph its output goes to {', '.join(f'`{c}`' for c in fact.consumers[:4])}"


def _seen_evidence(fact: InplaceClash, seen: InplaceChange) -> Iterator[str]:
    needed = f"`{seen.saved_by}` saved it" if seen.saved_by else "it was saved"
    yield f"{needed} for `backward`, a tensor {shape(seen.shape)} at version {seen.expected}"
    yield (
        f"the script was run again with an eye on every write: `{_plain_op(seen.op)}` was the first into this tensor, "
        f"which `backward` found at version {fact.version or seen.version}"
    )


def _plain_op(op: str) -> str:
    """`clamp_` for `aten.clamp_.default`."""
    return op.removeprefix("aten.").partition(".")[0]


def _change_seen(code: Code, seen: InplaceChange) -> Change | None:
    """The statement behind an operation: the line that built a layer which works in place, else the user's line."""
    place = seen.layer_built or seen.where
    if place is None:
        return None
    found = [
        c
        for file, tree in code.trees.items()
        if file == place.file
        for c in _changes(code, file, tree)
        if c.location.line == place.line
    ]
    if seen.layer_built is not None:
        return next(
            (c for c in found if c.words.rpartition("(")[0].endswith(seen.layer) or seen.layer in c.words), None
        )
    node = _camel(_plain_op(seen.op))
    exact = [c for c in found if c.node == node or c.words in seen.expression]
    if exact or found:
        return (exact or found)[0]
    return Change(place, "a tensor", node, seen.expression or _plain_op(seen.op))


def _optimizer_step(code: Code, line: Location) -> Location | None:
    """The nearest `.step()` above a line of the same function, else the nearest below in the loop."""
    scope = code.scope(line)
    steps = [
        n
        for n in (ast.walk(scope) if scope is not None else ())
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "step"
    ]
    above = [n for n in steps if n.lineno < line.line]
    chosen = max(above, key=lambda n: n.lineno, default=None) or min(steps, key=lambda n: n.lineno, default=None)
    return code.place(line.file, chosen) if chosen is not None else None


def _older_results(code: Code, step: Location, line: Location) -> list[tuple[str, str]]:
    """What the loss of this `backward` is computed from and was itself computed by a call before the step."""
    root = next((n.partition(".")[0] for n in code.names(line) if n.endswith(".backward")), "")
    loss = code.last_assignment(root, line) if root else None
    if loss is None or loss.value is None or not step.line < loss.location.line <= line.line:
        return []
    found = []
    for name in dotted_names([loss.value]):
        made = code.last_assignment(name, loss.location)
        call = made.value if made is not None and made.how == "assign" and made.location.line < step.line else None
        if isinstance(call, ast.Call) and made is not None and _is_plain_name(made.node, name) and _asks_network(call):
            found.append((name, ast.unparse(call)))
    return found[:2]


def _is_plain_name(node: ast.AST, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in getattr(node, "targets", []))


def _asks_network(call: ast.Call) -> bool:
    """A call of something by its own name with something computed: not `torch.ones(64, 1)`."""
    words = {name.partition(".")[0] for name in dotted_names([*call.args])}
    return not dotted(call.func).startswith(("torch.", "np.")) and bool(words)


def _likeliest(code: Code, fact: InplaceClash) -> Change | None:
    """The in-place statement that fits the graph and the names best; none when nothing but its form speaks for it."""
    scored = [
        Change(c.location, c.name, c.node, c.words, _score(code, c, fact))
        for file, tree in code.trees.items()
        for c in _changes(code, file, tree)
    ]
    best = max(scored, key=lambda c: c.score, default=None)
    if best is not None and best.score >= _GOOD_ENOUGH:
        return best
    # A change through a view leaves no trace at the tensor itself; a single statement of its kind is clue enough.
    through_views = [c for c in scored if c.node == "CopySlices" and c.node in fact.nodes]
    return through_views[0] if len({c.location.line for c in through_views}) == 1 else None


def _score(code: Code, change: Change, fact: InplaceClash) -> int:
    score = 0
    if any(_plain(consumer) == change.node for consumer in fact.consumers):
        score += 2
    # A tensor changed in place belongs to the node of that change, unless the operation that made it had saved it.
    if _plain(fact.operation) == change.node:
        score += 2
    if any(h.name == change.name for h in fact.holders):
        score += 2
    bound = code.last_assignment(change.name, change.location)
    made = _word(fact.operation).replace("_", "")
    if bound is not None and bound.value is not None and made:
        words = {dotted(n.func).rpartition(".")[2].lower().replace("_", "") for n in _calls(bound.value)}
        score += 2 if made in words else 0
    return score


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Call))


def _changes(code: Code, file: str, tree: ast.AST) -> Iterator[Change]:
    for node in ast.walk(tree):
        place = code.place(file, node) if hasattr(node, "lineno") else None
        if place is None:
            continue
        if isinstance(node, ast.AugAssign):
            kind = "CopySlices" if isinstance(node.target, ast.Subscript) else _OPERATORS.get(type(node.op), "")
            sign = {"Add": "+=", "Sub": "-=", "Mul": "*=", "Div": "/=", "Pow": "**="}.get(
                _OPERATORS.get(type(node.op), ""), "="
            )
            yield Change(place, dotted(node.target), kind or "?", f"{ast.unparse(node.target)} {sign}")
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript):
                    yield Change(place, dotted(target), "CopySlices", f"{ast.unparse(target)} =")
        elif isinstance(node, ast.Call):
            yield from _changing_call(place, node)


def _changing_call(place: Location, call: ast.Call) -> Iterator[Change]:
    word = dotted(call.func).rpartition(".")[2]
    in_place = any(
        k.arg == "inplace" and isinstance(k.value, ast.Constant) and k.value.value is True for k in call.keywords
    )
    if in_place:
        operand = dotted(call.args[0]) if call.args and not isinstance(call.args[0], ast.Constant) else ""
        yield Change(place, operand or f"the input of {word}", _camel(word), ast.unparse(call))
    elif word.endswith("_") and not word.startswith(_NOT_IN_PLACE) and word not in _NOT_IN_PLACE:
        owner = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        if owner and owner.partition(".")[0] not in ("init", "nn"):
            yield Change(place, owner, _camel(word), f"{owner}.{word}")


def _camel(word: str) -> str:
    """The first part of an autograd node's name: `MaskedFill` for `masked_fill_`, `Relu` for `ReLU`."""
    known = {"ReLU": "Relu", "LeakyReLU": "LeakyRelu", "SiLU": "Silu", "Dropout": "Mul", "dropout": "Mul"}
    return known.get(word) or "".join(part.capitalize() if part.islower() else part for part in word.split("_"))


def _cure(change: Change) -> Remedy:
    source = change.location.source.split("  #")[0].strip()
    augmented = re.match(r"(?P<name>[\w.]+)\s*(?P<sign>[-+*/])=\s*(?P<rest>.+)", source)
    if augmented:
        new = f"{augmented['name']} = {augmented['name']} {augmented['sign']} {augmented['rest']}"
        return Remedy(title="make a new tensor instead of changing the old one", diff=f"- {source}\n+ {new}")
    if "inplace=True" in source:
        return Remedy(title="drop `inplace=True`", diff=f"- {source}\n+ {_without_inplace(source)}")
    if change.words.endswith(" ="):
        return Remedy(
            title=f"change a copy, `{change.name}.clone()`, or collect the parts in a list and `torch.stack` them",
        )
    plain = change.words.removesuffix("_")
    if source.startswith(f"{change.words}("):
        new = f"{change.name} = {plain}{source.removeprefix(change.words)}"
    elif f"{change.words}(" in source:
        new = source.replace(f"{change.words}(", f"{plain}(", 1)
    else:
        return Remedy(title=f"use the form that returns a new tensor: `{change.name} = {plain}(…)`")
    return Remedy(title=f"use `{plain}`, which returns a new tensor", diff=f"- {source}\n+ {new}")


def _without_inplace(source: str) -> str:
    return re.sub(r",?\s*inplace=True", "", source)
