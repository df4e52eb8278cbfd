"""Small adaptations of torch's own data loading and of the libraries that look for fake tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchmedic.checkups.memory.pretending import Pretence


def adapt_frameworks(pretence: Pretence, after_import: Callable[[str, Callable[[], None]], None]) -> None:
    """Register what has to change once a library is there."""
    after_import("torch.utils.data.dataloader", _load_in_this_process)
    after_import("transformers.utils.import_utils", _take_fakes_for_real)


def _load_in_this_process() -> None:
    """Workers would be children without the pretence: the few batches that are needed are made here."""
    from torch.utils.data import dataloader

    def iterator(self: Any) -> Any:
        before = self.num_workers, self.timeout, self.pin_memory
        self.num_workers, self.timeout, self.pin_memory = 0, 0, False
        try:
            return dataloader._SingleProcessDataLoaderIter(self)
        finally:
            self.num_workers, self.timeout, self.pin_memory = before

    dataloader.DataLoader._get_iterator = iterator  # type: ignore[method-assign]


def _take_fakes_for_real() -> None:
    """transformers takes other branches while a model is traced, and fake tensors look to it like tracing."""
    import transformers.utils.import_utils as utils

    utils.is_fake_tensor = lambda _tensor: False
