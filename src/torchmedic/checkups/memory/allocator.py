"""A model of torch's caching allocator for CUDA: rounding, pools, segments, best fit, split and merge."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field

KIB = 1 << 10
MIB = 1 << 20

_SMALLEST = 512
_SMALL_LIMIT = MIB
_SMALL_SEGMENT = 2 * MIB
_LARGE_SEGMENT = 20 * MIB
_LARGE_LIMIT = 10 * MIB
_LARGE_ROUNDING = 2 * MIB

_Key = tuple[int, int, int]


@dataclass(slots=True, eq=False)
class Block:
    """A piece of a segment; neighbours are kept so that free ones can be merged."""

    segment: int
    offset: int
    size: int
    small: bool
    free: bool = False
    before: Block | None = None
    after: Block | None = None

    @property
    def key(self) -> _Key:
        """Best fit takes the smallest block that suffices, the lowest address among equals."""
        return (self.size, self.segment, self.offset)


@dataclass(slots=True)
class _Pool:
    """The free blocks of one pool, smallest first."""

    keys: list[_Key] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    def put(self, block: Block) -> None:
        block.free = True
        at = bisect.bisect_left(self.keys, block.key)
        self.keys.insert(at, block.key)
        self.blocks.insert(at, block)

    def take(self, block: Block) -> None:
        at = bisect.bisect_left(self.keys, block.key)
        del self.keys[at], self.blocks[at]
        block.free = False

    def best(self, size: int) -> Block | None:
        at = bisect.bisect_left(self.keys, (size, -1, -1))
        return self.blocks[at] if at < len(self.keys) else None


class CachingAllocator:
    """Hands out blocks as torch would; `allocated` and `reserved` are what `torch.cuda` would say."""

    def __init__(self, *, expandable: bool = False) -> None:
        self.allocated = self.reserved = self.requested = 0
        self.peak_allocated = self.peak_reserved = self.peak_requested = 0
        self._pools = {True: _Pool(), False: _Pool()}
        self._segments = 0
        self._expandable = expandable
        self._ends: dict[bool, Block] = {}

    def allocate(self, size: int) -> Block:
        """A block of at least `size` bytes."""
        rounded = max(_SMALLEST, -(-size // _SMALLEST) * _SMALLEST)
        small = rounded <= _SMALL_LIMIT
        pool = self._pools[small]
        block = pool.best(rounded)
        if block is None:
            block = self._grow(rounded, small) if self._expandable else self._new_segment(rounded, small)
        else:
            pool.take(block)
        self._split(block, rounded)
        self.allocated += block.size
        self.peak_allocated = max(self.peak_allocated, self.allocated)
        return block

    def release(self, block: Block) -> None:
        """Give a block back; it merges with free neighbours and stays reserved."""
        self.allocated -= block.size
        pool = self._pools[block.small]
        before, after = block.before, block.after
        if after is not None and after.free:
            pool.take(after)
            self._join(block, after)
        if before is not None and before.free:
            pool.take(before)
            self._join(before, block)
            block = before
        pool.put(block)

    def give_back_unused(self) -> None:
        """`torch.cuda.empty_cache()`: segments that are free as a whole return to the card."""
        for pool in self._pools.values():
            for block in [b for b in pool.blocks if b.before is None and b.after is None]:
                pool.take(block)
                self.reserved -= block.size
                if self._ends.get(block.small) is block:
                    del self._ends[block.small]

    def forget_peaks(self) -> None:
        self.peak_allocated, self.peak_reserved = self.allocated, self.reserved

    def _new_segment(self, size: int, small: bool) -> Block:
        if small:
            length = _SMALL_SEGMENT
        elif size < _LARGE_LIMIT:
            length = _LARGE_SEGMENT
        else:
            length = -(-size // _LARGE_ROUNDING) * _LARGE_ROUNDING
        self._segments += 1
        self._reserve(length)
        return Block(segment=self._segments, offset=0, size=length, small=small)

    def _grow(self, size: int, small: bool) -> Block:
        """An expandable segment maps further pages at its end, and what is free there counts."""
        page = _SMALL_SEGMENT if small else _LARGE_SEGMENT
        end = self._ends.get(small)
        missing = size - (end.size if end is not None and end.free else 0)
        length = -(-missing // page) * page
        self._reserve(length)
        if end is not None and end.free:
            self._pools[small].take(end)
            end.size += length
            return end
        offset = end.offset + end.size if end is not None else 0
        block = Block(segment=0 if small else 1, offset=offset, size=length, small=small, before=end)
        if end is not None:
            end.after = block
        self._ends[small] = block
        return block

    def _reserve(self, length: int) -> None:
        self.reserved += length
        self.peak_reserved = max(self.peak_reserved, self.reserved)

    def _split(self, block: Block, size: int) -> None:
        """Keep what is asked for; a remainder worth keeping becomes a free block, a lesser one stays inside."""
        rest = block.size - size
        if rest < _SMALLEST if block.small else rest <= _SMALL_LIMIT:
            return
        remainder = Block(
            segment=block.segment,
            offset=block.offset + size,
            size=rest,
            small=block.small,
            before=block,
            after=block.after,
        )
        if block.after is not None:
            block.after.before = remainder
        block.after, block.size = remainder, size
        if self._ends.get(block.small) is block:
            self._ends[block.small] = remainder
        self._pools[block.small].put(remainder)

    def _join(self, first: Block, second: Block) -> None:
        first.size += second.size
        first.after = second.after
        if second.after is not None:
            second.after.before = first
        if self._ends.get(first.small) is second:
            self._ends[first.small] = first
