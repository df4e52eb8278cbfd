"""Fingerprints of rows, exact and cheap, and the names by which a script calls a tensor or a loader."""

from __future__ import annotations

import ast
import re
from types import FrameType
from typing import Any

import torch
from torch.utils.data import DataLoader

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import is_user_file, outward
from torchmedic.probes.source.sources import file_at

_MOST_COLUMNS = 96
_MOST_TOKENS = 512
_MOST_FRAMES = 12
_LEAST_COLUMNS = {True: 4, False: 16}
_GROWN_TOGETHER = re.compile(r"(train|test|valid|val|dev|eval)(loader|dataset|set|data|iter|dl|ds)s?")
_TRAIN = frozenset(("train", "training", "tr", "trn", "fit"))
TEST_WORDS = frozenset(
    {
        "test",
        "testing",
        "te",
        "tst",
        "va",
        "val",
        "valid",
        "validation",
        "dev",
        "eval",
        "evaluation",
        "holdout",
        "heldout",
        "xv",
        "yv",
        "xval",
        "xtest",
        "valset",
        "testset",
    }
)


def fingerprints(rows: torch.Tensor) -> list[int]:
    """One number per row, equal for equal rows; rows with too little in them to be told apart are left out."""
    floating = rows.is_floating_point()
    if rows.ndim < 2 or rows.layout != torch.strided or rows.shape[0] == 0:
        return []
    flat = rows.detach().reshape(rows.shape[0], -1)
    if flat.shape[1] < _LEAST_COLUMNS[floating]:
        return []
    flat = flat[:, :: max(1, flat.shape[1] // _MOST_COLUMNS)][:, :_MOST_COLUMNS].cpu().contiguous()
    if floating:
        # Whole numbers (counts, one-hot codes) repeat by themselves.
        varied = ((flat != flat[:, :1]) & (flat != flat.round())).sum(1) >= 3
        bits = flat.float().view(torch.int32).long()
    else:
        varied = (flat.sort(1).values.diff(dim=1) != 0).sum(1) >= 8
        bits = flat.long()
    return [int(n) for n in _mixed(bits)[varied].tolist()]


def halves(rows: torch.Tensor) -> tuple[list[int], ...]:
    """Numbers for each row of tokens: one for its first half, one for its second, one for all of it."""
    if rows.is_floating_point() or rows.ndim != 2 or rows.layout != torch.strided or rows.shape[1] > _MOST_TOKENS:
        return [], [], []
    bits, middle = rows.detach().cpu().long(), rows.shape[1] // 2
    return tuple(_mixed(part).tolist() for part in (bits[:, :middle], bits[:, middle:], bits))


def _mixed(bits: torch.Tensor) -> torch.Tensor:
    places = torch.arange(1, bits.shape[1] + 1, dtype=torch.int64, device=bits.device)
    mixed = bits * 0x5851F42D4C957F2D + places * 0x14057B7EF767814F
    # A sum of products alone would be the same for many rows of small numbers.
    for shift, factor in ((29, 0x3F58476D1CE4E5B9), (32, 0x14D049BB133111EB)):
        mixed = (mixed ^ (mixed >> shift)) * factor
    return mixed.sum(1)


def names_of_tensor(tensor: torch.Tensor, frame: FrameType | None) -> tuple[str, ...]:
    """The names under which the user's frames hold a tensor or the one it is a view of."""
    storage = tensor.untyped_storage().data_ptr()
    found: list[str] = []
    for name, thing in _bound(frame):
        if (
            type(thing) is torch.Tensor
            and thing.layout == torch.strided
            and thing.untyped_storage().data_ptr() == storage
        ):
            found.append(name)
    return tuple(dict.fromkeys(found))


def names_of_loader(index_sampler: Any, frame: FrameType | None) -> tuple[str, ...]:
    """The names under which the user's frames hold the loader of a batch."""
    found: list[str] = []
    for name, thing in _bound(frame):
        if isinstance(thing, DataLoader) and thing._index_sampler is index_sampler:
            found.append(name)
    return tuple(dict.fromkeys(found))


def names_in_libraries(index_sampler: Any, frame: FrameType | None) -> tuple[str, ...]:
    """The telling names under which calls of libraries hold the loader of a batch: what a framework was given it as."""
    found: list[str] = []
    for each in outward(frame):
        if not is_user_file(each.f_code.co_filename):
            for name, thing in list(each.f_locals.items()):
                held = thing if isinstance(thing, (list, tuple)) and len(thing) == 1 else (thing,)
                if isinstance(held[0], DataLoader) and held[0]._index_sampler is index_sampler:
                    found.append(name)
    return tuple(dict.fromkeys(name for name in found if tokens(name) & (TEST_WORDS | _TRAIN)))


def names_of_dataset(dataset: Any, frame: FrameType | None) -> tuple[str, ...]:
    """The names under which the user's frames hold a data set."""
    return tuple(dict.fromkeys(name for name, thing in _bound(frame) if thing is dataset))


def names_on_line(frame: FrameType | None) -> tuple[str, ...]:
    """Names that say what data are for, in the statement of the innermost user frame that has some."""
    for each in list(outward(frame))[:_MOST_FRAMES]:
        tree = parsed(each.f_code.co_filename) if is_user_file(each.f_code.co_filename) else None
        names = _names_at(tree, each.f_lineno or 0) if tree is not None else ()
        telling = tuple(name for name in names if tokens(name) & (TEST_WORDS | _TRAIN))
        if telling:
            return telling
    return ()


def names_at(place: Location | None) -> tuple[str, ...]:
    """What the statement at a place reads, and the name of the function around it."""
    file = file_at(place)
    tree = parsed(file) if file else None
    if place is None or tree is None:
        return ()
    return (*_names_at(tree, place.line), place.function.rpartition(".")[2])


def _names_at(tree: ast.Module, line: int) -> tuple[str, ...]:
    """Variables and attributes that the simple statement on a line reads; what it binds may be named for a result."""
    for node in ast.walk(tree):
        simple = isinstance(node, ast.stmt) and not hasattr(node, "body")
        if simple and node.lineno <= line <= (node.end_lineno or 0):  # type: ignore[attr-defined]
            inner = list(ast.walk(node))
            # `model.eval()` and `test(model, loader)` tell what is done, not on which data.
            called = {id(n.func) for n in inner if isinstance(n, ast.Call)}
            read = [n for n in inner if isinstance(getattr(n, "ctx", None), ast.Load) and id(n) not in called]
            found = [n.id for n in read if isinstance(n, ast.Name)]
            found += [n.attr for n in read if isinstance(n, ast.Attribute)]
            return tuple(dict.fromkeys(found))
    return ()


def _bound(frame: FrameType | None) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for each in outward(frame):
        if is_user_file(each.f_code.co_filename):
            found += list(each.f_locals.items())
            owner = each.f_locals.get("self")
            found += list(getattr(owner, "__dict__", {}).items()) if owner is not None else []
            last = each
    if found:
        found += list(last.f_globals.items())
    return found


def tokens(name: str) -> set[str]:
    """The words of a name.

    >>> sorted(tokens("testLoader_2")), sorted(tokens("x_te"))
    (['loader', 'test'], ['te', 'x'])
    >>> sorted(tokens("trainloader"))
    ['loader', 'train', 'trainloader']
    """
    apart = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    words = {word for word in re.split(r"[^A-Za-z]+", apart.lower()) if word}
    return words.union(*(grown.groups() for word in words if (grown := _GROWN_TOGETHER.fullmatch(word))))


def is_held_out(names: tuple[str, ...]) -> bool:
    """Whether names say that these data are for testing, and none says that they are for training."""
    words = [tokens(name) for name in names]
    return any(w & TEST_WORDS for w in words) and not any(w & _TRAIN for w in words)


def say_nothing(names: tuple[str, ...]) -> bool:
    """Whether no name says what data are for."""
    return not any(tokens(name) & (TEST_WORDS | _TRAIN) for name in names)


def is_trained_on(names: tuple[str, ...]) -> bool:
    """Whether names say that these data are for training, and none says that they are for testing."""
    words = [tokens(name) for name in names]
    return any(w & _TRAIN for w in words) and not any(w & TEST_WORDS for w in words)
