"""A tensor, a class or a function where `nn.ModuleList` or `nn.Sequential` needs a module."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Run, Value
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import crash_in, said, short_type, user_line


class NonModuleInContainer(Rule):
    """Something that is no module was put into a container of modules."""

    code = "ERR041"
    name = "non-module-in-container"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`… is not a Module subclass`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, r"(?P<what>\S+) is not a Module subclass")
        if crash is None or found is None:
            return
        thing = _argument(crash, "module")
        name = _argument(crash, "name")
        container = _container(crash)
        what = _kind(thing, found.group("what"))
        position = name.text.strip("'") if name is not None else ""
        yield self.diagnose(
            headline=f"element `{position}` of `{container}` is {what}, not a module"
            if position
            else f"{what} was put into `{container}`, which takes modules",
            confidence="proven",
            where=user_line(crash),
            culprit=Culprit(module=container, tensor=str(thing.tensor) if thing and thing.tensor else None),
            evidence=tuple(_evidence(thing, found.group("what"))),
            remedies=tuple(_remedies(thing)),
        )


def _argument(crash: Crash, name: str) -> Value | None:
    """A variable of torch's own frames, innermost first."""
    frames = (f for f in reversed(crash.frames) if not f.is_user)
    return next((v for f in frames if (v := f.value(name)) is not None), None)


def _container(crash: Crash) -> str:
    frame = next((f for f in reversed(crash.frames) if f.module is not None and not f.is_user), None)
    return short_type(frame.module.type) if frame is not None and frame.module is not None else "the container"


def _kind(thing: Value | None, said_type: str) -> str:
    if thing is not None and thing.tensor is not None:
        kind = "an `nn.Parameter`" if thing.tensor.is_parameter else "a tensor"
        return f"{kind} of shape {list(thing.tensor.shape)}"
    if thing is not None and thing.type.startswith("class "):
        return f"the class `{thing.text}` itself"
    name = said_type.rpartition(".")[2]
    return f"the function `{name}`" if name.islower() and thing is None else f"a `{name}`"


def _evidence(thing: Value | None, said_type: str) -> Iterator[str]:
    yield f"torch's own name for the element is `{said_type}`"
    if thing is not None and thing.tensor is not None:
        learns = thing.tensor.requires_grad
        yield f"the tensor has `requires_grad={learns}`: " + (
            "it is meant to learn" if learns else "nothing marks it as learnable"
        )


def _remedies(thing: Value | None) -> Iterator[Remedy]:
    if thing is not None and thing.tensor is not None:
        if thing.tensor.is_parameter or thing.tensor.requires_grad:
            yield Remedy(title="keep parameters in `nn.ParameterList([...])`, or `self.register_parameter(name, p)`")
        else:
            yield Remedy(title="if it shall learn: `nn.ParameterList([nn.Parameter(t), ...])`")
            yield Remedy(
                title="if it is a constant: `self.register_buffer(name, t)`, which moves and saves with the module"
            )
    elif thing is not None and thing.type.startswith("class "):
        yield Remedy(title=f"make an instance: `{thing.text}()`")
    else:
        yield Remedy(title="use the layer of that name (`nn.ReLU()` for `F.relu`), or call the function in `forward`")
