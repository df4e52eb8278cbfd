"""Reads the lists of keys and shapes in `load_state_dict`'s message."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from torchmedic.facts import Crash

_SIZE = re.compile(
    r"size mismatch for (?P<key>\S+): copying a param with shape (?:torch\.Size\(\[(?P<saved>[\d, ]*)\]\)|\S+)"
    r".*?shape in current model is (?:torch\.Size\(\[(?P<now>[\d, ]*)\]\)|\S+)"
)


@dataclass(frozen=True)
class Mismatch:
    """What a checkpoint lacks, what it has too much, and which shapes differ (`key, saved, now`)."""

    model: str
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    sizes: tuple[tuple[str, str, str], ...]


def mismatch(crash: Crash | None) -> Mismatch | None:
    """The parts of `Error(s) in loading state_dict for …`; None for another message."""
    start = re.search(r"Error\(s\) in loading state_dict for (\S+?):", crash.message) if crash is not None else None
    if crash is None or start is None:
        return None
    return Mismatch(
        model=start.group(1),
        missing=_keys(crash.message, r"Missing key\(s\)"),
        unexpected=_keys(crash.message, r"Unexpected key\(s\)"),
        sizes=tuple((m["key"], f"[{m['saved']}]", f"[{m['now']}]") for m in _SIZE.finditer(crash.message)),
    )


def _keys(message: str, title: str) -> tuple[str, ...]:
    part = re.search(title + r" in state_dict: (.*)", message)
    return tuple(re.findall(r'"([^"]+)"', part.group(1))) if part else ()


def compressed(keys: Sequence[str], most: int = 4) -> str:
    """Keys grouped by their layer: `head.{weight, bias}, encoder.* (24 keys)`."""
    groups: dict[str, list[str]] = {}
    top = Counter(key.partition(".")[0] for key in keys)
    for key in keys:
        parent, _, last = key.rpartition(".")
        wide = key.partition(".")[0]
        groups.setdefault(f"{wide}.*" if top[wide] > most else parent, []).append(last or key)
    told = [_group(parent, names) for parent, names in groups.items()]
    return ", ".join(told[:most]) + (f", … ({len(keys)} keys in all)" if len(told) > most else "")


def _group(parent: str, names: list[str]) -> str:
    if parent.endswith(".*"):
        return f"{parent} ({len(names)} keys)"
    dot = "." if parent else ""
    return f"{parent}{dot}{names[0]}" if len(names) == 1 else f"{parent}{dot}{{{', '.join(names)}}}"


def prefix_difference(longer: Sequence[str], shorter: Sequence[str]) -> str:
    """The prefix that turns keys of `shorter` into those of `longer`, when it explains most of them.

    >>> prefix_difference(["module.a.w", "module.b.w"], ["a.w", "b.w"])
    'module.'
    """
    wanted = set(shorter)
    found: Counter[str] = Counter()
    for key in longer:
        parts = key.split(".")
        for i in range(1, len(parts)):
            if ".".join(parts[i:]) in wanted:
                found[".".join(parts[:i]) + "."] += 1
    if not found:
        return ""
    prefix, count = found.most_common(1)[0]
    return prefix if count >= max(1, len(wanted) // 2) and count * 2 > len(longer) else ""
