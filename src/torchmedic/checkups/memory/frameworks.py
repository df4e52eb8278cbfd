"""Small adaptations of torch's own data loading and of the libraries that look for fake tensors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchmedic.checkups.memory.afterwards import Afterwards

_WHOLE_BATCHES = 3


class Loaders:
    """What the data loaders of the script do, and the batch size that they are told to have (0: their own).

    Loaders of evaluation may have batches of another size: those of size `instead_of` are told, if that is not 0.
    """

    def __init__(
        self, wanted: int = 0, *, instead_of: int = 0, plenty: bool = False, afterwards: Afterwards | None = None
    ) -> None:
        self.afterwards = afterwards
        self._wanted = wanted
        self._instead_of = instead_of
        self._plenty = plenty
        self._latest: Any = None
        self.batch = 0
        self.samples = 0

    def _note_step(self) -> None:
        """The batch that came last before the first step was trained on."""
        if self._latest is not None and not self.batch:
            self.batch, self.samples = self._latest.batch_size or 0, _samples_of(self._latest)
        if self.afterwards is not None:
            self.afterwards.note_step()

    def adapt(self) -> None:
        """Load in this process: workers would be children without the pretence."""
        from torch.optim.optimizer import register_optimizer_step_pre_hook
        from torch.utils.data import dataloader

        register_optimizer_step_pre_hook(lambda *_: self._note_step())
        loader: Any = dataloader.DataLoader
        build = loader.__init__

        def init(this: Any, dataset: Any, batch_size: int | None = 1, *args: Any, **kwargs: Any) -> None:
            is_meant = batch_size is not None and self._instead_of in (0, batch_size)
            if self._wanted and is_meant and kwargs.get("batch_sampler") is None:
                batch_size = self._wanted
            build(this, dataset, batch_size, *args, **kwargs)
            if self.afterwards is not None:
                self.afterwards.note_built(this)
            if self._plenty:
                _go_over_again(this)

        def noted(this: Any) -> Any:
            batches: Any = dataloader._SingleProcessDataLoaderIter(this)
            fetch = batches._next_data

            def next_data() -> Any:
                self._latest = this
                return fetch()

            batches._next_data = next_data
            return self.afterwards.batches_of(this, batches) if self.afterwards is not None else batches

        def iterator(this: Any) -> Any:
            before = this.num_workers, this.timeout, this.pin_memory
            this.num_workers, this.timeout, this.pin_memory = 0, 0, False
            try:
                return noted(this)
            finally:
                this.num_workers, this.timeout, this.pin_memory = before

        loader.__init__, loader._get_iterator = init, iterator


def _samples_of(loader: Any) -> int:
    """How many samples a loader goes over, 0 where nobody knows."""
    sampler: Any = getattr(getattr(loader, "batch_sampler", None), "sampler", None)
    if isinstance(sampler, _Cycle):
        return sampler.whole
    try:
        return len(sampler)
    except (TypeError, NotImplementedError):
        return 0


def _go_over_again(loader: Any) -> None:
    """Let a loader with fewer samples than some whole batches begin again at its first: batches may be larger here."""
    batches: Any = getattr(loader, "batch_sampler", None)
    sampler: Any = getattr(batches, "sampler", None)
    size = getattr(batches, "batch_size", None)
    if isinstance(size, int) and hasattr(sampler, "__len__") and 0 < len(sampler) < _WHOLE_BATCHES * size:
        batches.sampler = _Cycle(sampler, _WHOLE_BATCHES * size)


class _Cycle:
    """A sampler repeated up to a length."""

    def __init__(self, sampler: Any, length: int) -> None:
        self._sampler, self._length = sampler, length
        self.whole = len(sampler)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        rounds = itertools.chain.from_iterable(iter(self._sampler) for _ in range(self._length))
        return itertools.islice(rounds, self._length)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sampler, name)


class Flags:
    """The whole numbers that the script takes from its command line, with their values."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}

    def adapt(self) -> None:
        """Look on while `argparse` reads the command line."""
        import argparse

        parse: Any = argparse.ArgumentParser.parse_known_args

        def parse_known_args(this: Any, *args: Any, **kwargs: Any) -> Any:
            found = parse(this, *args, **kwargs)
            for action in this._actions:
                value = getattr(found[0], action.dest, None)
                if action.option_strings and type(value) is int and value > 0:
                    self.values[action.option_strings[-1]] = value
            return found

        parser: Any = argparse.ArgumentParser
        parser.parse_known_args = parse_known_args


def adapt_frameworks(loaders: Loaders, flags: Flags, after_import: Callable[[str, Callable[[], None]], None]) -> None:
    """Register what has to change once a library is there."""
    flags.adapt()
    after_import("torch.utils.data.dataloader", loaders.adapt)
    after_import("transformers.utils.import_utils", _take_fakes_for_real)


def _take_fakes_for_real() -> None:
    """transformers takes other branches while a model is traced, and fake tensors look to it like tracing."""
    import transformers.utils.import_utils as utils

    utils.is_fake_tensor = lambda x: False
