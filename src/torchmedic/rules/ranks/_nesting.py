"""How the lines on which two ranks are lie to each other: in one loop or not, behind an `if` or not."""

from __future__ import annotations

from torchmedic.facts import Location, Nest

Nests = tuple[Nest, ...]


def fork(one: Nests, other: Nests) -> int | None:
    """How deep the last function is that both stand in; None where they have none in common."""
    depth = None
    for here, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if (mine.at.file, mine.at.function) != (theirs.at.file, theirs.at.function):
            break
        depth = here
        if mine.at.line != theirs.at.line:
            break
    return depth


def has_left(gone: Nests, inside: Nests, *, is_behind: bool) -> bool:
    """Whether the one is out of the innermost loop the other is in, and no `if` chose the way of either.

    An `if` in a function that the one has called may be passed in the same way by all: it counts unless the other
    `is_behind`, in a pass over the data that the one has ended.
    """
    depth = fork(gone, inside)
    if depth is None or _is_chosen_at(depth, gone, inside) or _is_chosen_at(depth, inside, gone):
        return False
    if is_chosen(gone, inside) and not is_behind:
        return False
    loop = _innermost_loop(inside)
    if loop < depth:
        return False
    return loop > depth or not _holds(inside[depth].loops[-1], gone[depth])


def is_chosen(one: Nests, other: Nests) -> bool:
    """Whether an `if` leads to where the one is that does not lead to the other."""
    depth = fork(one, other)
    if depth is None:
        return any(nest.branches for nest in one)
    return _is_chosen_at(depth, one, other) or any(nest.branches for nest in one[depth + 1 :])


def _is_chosen_at(depth: int, one: Nests, other: Nests) -> bool:
    return any(not _holds(branch, other[depth]) for branch in one[depth].branches)


def choosing_if(one: Nests, other: Nests) -> Location | None:
    """The `if` in a function that both stand in, through which the one went and the other did not."""
    depth = fork(one, other)
    if depth is None:
        return None
    pairs = zip(one[depth].branches, one[depth].ifs, strict=False)
    return next((at for branch, at in pairs if not _holds(branch, other[depth])), None)


def comes_first(one: Nests, other: Nests) -> bool:
    """Whether the one stands before the other in the same pass of the same loops, no `if` having chosen either."""
    depth = fork(one, other)
    if depth is None or is_chosen(one, other) or is_chosen(other, one):
        return False
    return one[depth].loops == other[depth].loops and one[depth].at.line < other[depth].at.line


def loop_head(nests: Nests) -> Location | None:
    """The line that begins the innermost loop."""
    return next((nest.heads[-1] for nest in reversed(nests) if nest.heads), None)


def _innermost_loop(nests: Nests) -> int:
    return max((depth for depth, nest in enumerate(nests) if nest.loops), default=-1)


def _holds(span: tuple[int, int], nest: Nest) -> bool:
    return span[0] <= nest.at.line <= span[1]
