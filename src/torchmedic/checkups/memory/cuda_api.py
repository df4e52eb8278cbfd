"""`torch.cuda` as a script sees it on a machine with one card, answered from the books."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import torch

from torchmedic.checkups.memory.cards import Card
from torchmedic.checkups.memory.ledger import Ledger
from torchmedic.checkups.memory.patches import Patches

_QUIET = (
    "_lazy_init", "init", "set_device", "synchronize", "ipc_collect", "manual_seed", "manual_seed_all", "seed",
    "seed_all", "set_stream", "_sleep", "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all",
    "reset_accumulated_memory_stats",
)  # fmt: skip


class _Stream:
    """A stream or an event on which everything has happened already."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        self.cuda_stream = 0
        self.device = torch.device("cuda", 0)

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def elapsed_time(self, _end: Any) -> float:
        return 1.0

    def _nothing(self, *_args: Any, **_kwargs: Any) -> None:
        return None

    def record_event(self, event: Any = None) -> Any:
        return event or _Stream()

    synchronize = wait_event = wait_stream = record = wait = _nothing


class _Generator(torch._C.Generator):
    """A generator of the card's is one of the CPU's here."""

    def __new__(cls, device: Any = "cpu") -> _Generator:
        return super().__new__(cls, "cpu")  # type: ignore[call-arg]


class _AsBefore:
    """A choice of device or stream that changes nothing; a class, since torch asks what is an instance of it."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        self.idx = self.prev_idx = 0

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def pretend_a_card(patches: Patches, ledger: Ledger, card: Card) -> None:
    """Let `torch.cuda` answer as if this card were there and ours alone."""
    cuda = torch.cuda
    classes = dict.fromkeys(("Stream", "Event", "ExternalStream"), _Stream)
    choices = dict.fromkeys(("stream", "device", "device_of"), _AsBefore)
    for name, answer in {**_answers(ledger, card), **classes, **choices}.items():
        _answer_everywhere(patches, name, answer)
    patches.put(cuda.amp.common, "amp_definitely_not_available", lambda: False)
    patches.put(torch, "Generator", _Generator)
    patches.put(torch.Tensor, "pin_memory", lambda self, *_a, **_k: self)
    patches.put(torch.Tensor, "record_stream", lambda *_: None)
    patches.put(torch._C, "_get_accelerator", lambda *_: torch.device("cuda"))
    for name, answer in _accelerator().items():
        if hasattr(torch, "accelerator") and hasattr(torch.accelerator, name):
            patches.put(torch.accelerator, name, answer)


def _answer_everywhere(patches: Patches, name: str, answer: Any) -> None:
    """`torch.cuda` shows what its own modules define: a library may ask either."""
    true = getattr(torch.cuda, name, None)
    for module in [module for path, module in sys.modules.items() if path.startswith("torch.cuda.")]:
        if true is not None and module.__dict__.get(name) is true:
            patches.put(module, name, answer)
    patches.put(torch.cuda, name, answer)


def _accelerator() -> dict[str, Any]:
    return {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_accelerator": lambda *_a, **_k: torch.device("cuda"),
        "current_device_index": lambda: 0,
        "synchronize": lambda *_: None,
        "empty_cache": lambda: None,
        "current_stream": lambda *_: _Stream(),
        "set_device_index": lambda *_: None,
    }


def _properties(card: Card) -> SimpleNamespace:
    major, minor = card.capability
    return SimpleNamespace(
        name=f"NVIDIA {card.name}",
        major=major,
        minor=minor,
        total_memory=card.memory,
        multi_processor_count=card.processors,
        is_integrated=0,
        is_multi_gpu_board=0,
        max_threads_per_multi_processor=2048,
        warp_size=32,
        gcnArchName="",
        L2_cache_size=50 << 20,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=232448,
        regs_per_multiprocessor=65536,
        uuid="GPU-00000000-0000-0000-0000-000000000000",
    )


def _answers(ledger: Ledger, card: Card) -> dict[str, Any]:
    """Every function of `torch.cuda` that scripts and libraries ask."""
    allocator = ledger.allocator

    def statistics(*_: Any) -> dict[str, int]:
        return {
            "allocated_bytes.all.current": allocator.allocated,
            "allocated_bytes.all.peak": allocator.peak_allocated,
            "reserved_bytes.all.current": allocator.reserved,
            "reserved_bytes.all.peak": allocator.peak_reserved,
            "active_bytes.all.current": allocator.allocated,
            "active_bytes.all.peak": allocator.peak_allocated,
            "num_alloc_retries": 0,
            "num_ooms": 0,
        }

    def nothing(*_args: Any, **_kwargs: Any) -> None:
        return None

    return {
        **dict.fromkeys(_QUIET, nothing),
        "empty_cache": allocator.give_back_unused,
        "is_available": lambda: True,
        "_is_compiled": lambda: True,
        "is_initialized": lambda: False,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "_is_in_bad_fork": lambda: False,
        "get_device_name": lambda *_: f"NVIDIA {card.name}",
        "get_device_capability": lambda *_: card.capability,
        "get_device_properties": lambda *_: _properties(card),
        "get_arch_list": lambda: ["sm_{}{}".format(*card.capability)],
        "is_bf16_supported": lambda including_emulation=True: including_emulation or card.capability[0] >= 8,
        "is_tf32_supported": lambda *_a, **_k: card.capability[0] >= 8,
        "current_stream": lambda *_: _Stream(),
        "default_stream": lambda *_: _Stream(),
        "can_device_access_peer": lambda *_: False,
        "initial_seed": torch.initial_seed,
        "get_rng_state": lambda *_: torch.get_rng_state(),
        "get_rng_state_all": lambda: [torch.get_rng_state()],
        "is_current_stream_capturing": lambda: False,
        "memory_allocated": lambda *_: allocator.allocated,
        "max_memory_allocated": lambda *_: allocator.peak_allocated,
        "memory_reserved": lambda *_: allocator.reserved,
        "max_memory_reserved": lambda *_: allocator.peak_reserved,
        "memory_stats": statistics,
        "memory_summary": lambda *_a, **_k: "",
        "mem_get_info": lambda *_: (card.usable - allocator.reserved, card.memory),
        "reset_peak_memory_stats": lambda *_: allocator.forget_peaks(),
        "reset_max_memory_allocated": lambda *_: allocator.forget_peaks(),
        "utilization": lambda *_: 0,
    }
