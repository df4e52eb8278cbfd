"""Summaries of live objects: forms and short texts, never the objects themselves."""

from __future__ import annotations

import inspect
import linecache
import re
import sys
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

from torchmedic.facts import Location, ModuleFact, TensorSummary, Value
from torchmedic.probes.objects.contents import pairs_in
from torchmedic.probes.source.frames import file_of, is_user_file, location
from torchmedic.redaction import HIDDEN, is_secret_name, redact

MOST_TEXT = 160
MOST_ITEMS = 8
MOST_VALUES = 60
_STATISTICS_LIMIT = 20_000_000


def summarise_locals(names: Iterable[tuple[str, Any]]) -> tuple[Value, ...]:
    """The variables of a frame that can tell something: no modules, functions or dunders."""
    kept: list[Value] = []
    for name, thing in names:
        if name.startswith("__") or isinstance(thing, (ModuleType, FunctionType)) or inspect.isbuiltin(thing):
            continue
        kept.append(summarise(name, thing))
        if len(kept) == MOST_VALUES:
            break
    return tuple(kept)


def summarise(name: str, thing: Any, depth: int = 2) -> Value:
    """A Value of any object. Only built-in types are asked for their `repr`: the user's own could do anything."""
    kind = type_name(thing)
    if is_secret_name(name):
        return Value(name=name, type=kind, text=HIDDEN)
    try:
        return Value(
            name=name,
            type=kind,
            text=_short_text(thing),
            tensor=tensor_summary(thing, statistics=not _is_on_card(thing)),
            length=_length(thing),
            items=_items(thing, depth) if depth else (),
        )
    except Exception:  # noqa: BLE001 - a strange object must not spoil the report
        return Value(name=name, type=kind)


def _is_on_card(thing: Any) -> bool:
    """A card that has failed, or has no room left, may not be asked for values any more."""
    return bool(getattr(thing, "is_cuda", False))


def type_name(thing: Any) -> str:
    kind = thing if isinstance(thing, type) else type(thing)
    module = kind.__module__
    prefix = "class " if isinstance(thing, type) else ""
    return prefix + (kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}")


def _short_text(thing: Any) -> str:
    if isinstance(thing, (int, float, complex, bool, type(None))):
        return repr(thing)
    if isinstance(thing, str):
        return redact(repr(thing[:MOST_TEXT]))
    if isinstance(thing, type):
        return thing.__qualname__
    if _module_of(thing) in ("pandas", "polars") and hasattr(thing, "shape"):
        names = getattr(thing, "columns", None)
        listed = ", ".join(map(str, list(names)[:12])) if names is not None else str(getattr(thing, "name", ""))
        return f"shape {tuple(thing.shape)}; columns {listed}"[:MOST_TEXT]
    if type(thing).__module__ in ("torch", "pathlib") and type(thing).__name__ in (
        "dtype",
        "device",
        "Size",
        "PosixPath",
    ):
        return redact(str(thing))
    return ""


def _module_of(thing: Any) -> str:
    return type(thing).__module__.partition(".")[0]


def _length(thing: Any) -> int | None:
    if isinstance(thing, (str, bytes, list, tuple, dict, set, frozenset)):
        return len(thing)
    return None


def _items(thing: Any, depth: int) -> tuple[Value, ...]:
    if isinstance(thing, dict):
        pairs = [(str(key), item) for key, item in pairs_in(thing)[:MOST_ITEMS]]
    elif isinstance(thing, (list, tuple)):
        pairs = [(f"[{i}]", item) for i, item in enumerate(thing[:MOST_ITEMS])]
    elif _is_graph(thing):
        pairs = [(str(key), item) for key, item in list(vars(thing)["_store"].items())[:MOST_ITEMS]]
    elif is_user_file(file_of(type(thing))):
        held = _module_tensors(thing) if _is_module(thing) else list(getattr(thing, "__dict__", {}).items())
        pairs = held[:MOST_ITEMS]
    else:
        return ()
    return tuple(summarise(name, item, depth - 1) for name, item in pairs)


def _is_graph(thing: Any) -> bool:
    """A graph of PyTorch Geometric, or several as one batch; the class of a batch is made on the fly."""
    is_data = any(kind.__module__.startswith("torch_geometric.data.") for kind in type(thing).__mro__)
    return is_data and hasattr(vars(thing).get("_store"), "items")


def _module_tensors(module: Any) -> list[tuple[str, Any]]:
    """The tensors that a module holds itself: plain attributes, parameters and buffers."""
    held = [*vars(module).items(), *module._parameters.items(), *module._buffers.items()]
    return [(name, item) for name, item in held if tensor_summary(item, statistics=False) is not None]


def _is_module(thing: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(thing, torch.nn.Module)


def tensor_summary(thing: Any, statistics: bool = True) -> TensorSummary | None:
    """The form of a tensor or NumPy array, with its range where that is cheap and safe to read."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(thing, torch.Tensor):
        # A parameter of a lazy layer has no shape before its first call, and raises where it is asked for one.
        if torch.nn.parameter.is_lazy(thing):
            return None
        return torch_summary(thing, statistics)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(thing, numpy.ndarray):
        return _numpy_summary(numpy, thing, statistics)
    return None


def torch_summary(tensor: Any, statistics: bool = True) -> TensorSummary:
    """The same of what is known to be a tensor of torch's."""
    torch = sys.modules["torch"]
    form: dict[str, Any] = {
        "shape": tuple(int(n) for n in tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "device": str(tensor.device),
        "requires_grad": bool(tensor.requires_grad),
        "is_leaf": bool(tensor.is_leaf),
        "is_parameter": isinstance(tensor, torch.nn.Parameter),
        "grad_fn": tensor.grad_fn.name() if tensor.grad_fn is not None else "",
    }
    readable = (
        tensor.layout == torch.strided and tensor.device.type != "meta" and 0 < tensor.numel() <= _STATISTICS_LIMIT
    )
    if statistics and readable and type(tensor) in (torch.Tensor, torch.nn.Parameter):
        form |= _torch_statistics(torch, tensor.detach())
    return TensorSummary(**form)


def _torch_statistics(torch: Any, tensor: Any) -> dict[str, Any]:
    if tensor.is_complex() or tensor.dtype == torch.bool:
        return {}
    values = tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor
    if not values.is_floating_point():
        low, high = torch.aminmax(values)
        return {"minimum": float(low), "maximum": float(high), "nan": 0, "inf": 0}
    finite = torch.isfinite(values)
    kept = values[finite]
    found: dict[str, Any] = {"nan": int(torch.isnan(values).sum()), "inf": int(torch.isinf(values).sum())}
    if kept.numel():
        low, high = torch.aminmax(kept)
        found |= {"minimum": float(low), "maximum": float(high), "zeros": int((kept == 0).sum())}
    return found


def _numpy_summary(numpy: Any, array: Any, statistics: bool) -> TensorSummary:
    form: dict[str, Any] = {"shape": tuple(int(n) for n in array.shape), "dtype": str(array.dtype), "device": "numpy"}
    if statistics and array.dtype.kind in "fiu" and 0 < array.size <= _STATISTICS_LIMIT:
        finite = array[numpy.isfinite(array)]
        form["nan"] = int(numpy.isnan(array).sum())
        form["inf"] = int(numpy.isinf(array).sum())
        if finite.size:
            form |= {"minimum": float(finite.min()), "maximum": float(finite.max())}
    return TensorSummary(**form)


def module_fact(module: Any, path: str = "") -> ModuleFact:
    """What a module is: class, settings of torch's own layers, children, parameters, where its class is written."""
    kind = type(module)
    return ModuleFact(
        type=type_name(module),
        path=path,
        settings=_settings(module),
        children=tuple(f"{name}: {type(child).__name__}" for name, child in module.named_children())[:40],
        parameters={
            name: summary
            for name, p in list(module.named_parameters(recurse=False))[:20]
            if (summary := tensor_summary(p, statistics=False)) is not None
        },
        methods={
            name: location(item.__code__.co_filename, item.__code__.co_firstlineno, item.__qualname__)
            for name, item in vars(kind).items()
            if isinstance(item, FunctionType) and is_user_file(item.__code__.co_filename)
        },
        defined=class_location(kind),
    )


def _settings(module: Any) -> dict[str, str]:
    kind = type(module).__module__
    if not kind.startswith(("torch.nn", "torch_geometric.nn")):
        return {}
    words = _own_words(module) if kind.startswith("torch.nn") else ""
    found = dict(re.findall(r"(\w+)=(\([^)]*\)|[^,]+)", words))
    for name in (
        "in_features",
        "out_features",
        "in_channels",
        "out_channels",
        "num_features",
        "num_embeddings",
        "embedding_dim",
        "input_size",
        "hidden_size",
        "normalized_shape",
        "embed_dim",
        "num_heads",
        "batch_first",
        "heads",
    ):
        if hasattr(module, name):
            found[name] = str(getattr(module, name))
    return found


def _own_words(module: Any) -> str:
    """What a layer says of itself; one whose construction failed has not all that its words speak of."""
    try:
        return str(module.extra_repr())
    except Exception:  # noqa: BLE001 - the words are the layer's own
        return ""


def class_location(kind: type) -> Location | None:
    """The line of a class statement in the user's code."""
    file = file_of(kind)
    if not is_user_file(file):
        return None
    opening = re.compile(rf"\s*class\s+{re.escape(kind.__name__)}\b")
    lines = enumerate(linecache.getlines(file), start=1)
    line = next((number for number, text in lines if opening.match(text)), None)
    return location(file, line, kind.__qualname__) if line is not None else None
