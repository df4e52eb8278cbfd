"""A second layer over the file system: what the script writes or deletes happens there, the files below stay."""

from __future__ import annotations

import errno
import itertools
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# The true functions: those in `os` are replaced while a script is followed.
_chmod, _getcwd, _lstat, _mkdir, _open = os.chmod, os.getcwd, os.lstat, os.mkdir, open
_readlink, _rename, _scandir = os.readlink, os.rename, os.scandir
_stat, _symlink, _unlink = os.stat, os.symlink, os.unlink
_SYSTEM = ("/dev", "/proc", "/sys", "/run")
_CACHES = ("XDG_CACHE_HOME", "HF_HOME", "TORCH_HOME", "MPLCONFIGDIR", "TRITON_CACHE_DIR")


class Overlay:
    """Maps paths: to a copy in the upper folder where the script has changed them, to themselves where it has not.

    It notes which paths a plain run would have written or deleted. Below `free` files are changed as always.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = os.path.realpath(folder)
        self._upper = os.path.join(self._folder, "files")
        self.scratch = os.path.join(self._folder, "t")
        _mkdir(self._upper)
        _mkdir(self.scratch)
        self._gone: set[str] = set()
        self._trash = itertools.count()
        self.free = (self._folder, str(folder), *_SYSTEM, *_caches())
        self._start = _getcwd()
        self._written: dict[str, None] = {}
        self._deleted: dict[str, None] = {}

    def not_written(self) -> tuple[str, ...]:
        """The files that were left as they are, or not made, as the script calls them."""
        files = [one for one in self._written if _mode(self._upper + one) is not None and not self.is_folder(one)]
        return tuple(self._short(one) for one in files)

    def not_deleted(self) -> tuple[str, ...]:
        return tuple(self._short(one) for one in self._deleted)

    def _short(self, place: str) -> str:
        return os.path.relpath(place, self._start) if _is_below(place, self._start) else place

    # -- where a path lies -----------------------------------------------------------------------------------------

    def shown(self, path: str) -> str:
        """A path as the script knows it."""
        return (path[len(self._upper) :] or "/") if _is_below(path, self._upper) else path

    def cwd(self) -> str:
        return self.shown(_getcwd())

    def absolute(self, path: Any) -> str:
        return self.shown(os.path.normpath(os.path.join(self.cwd(), os.fsdecode(path))))

    def is_ours(self, path: Any) -> bool:
        """Whether changes to a path are kept apart: not those of scratch folders, caches, devices and pipes."""
        place = self.absolute(path)
        if any(_is_below(place, free) for free in self.free):
            return False
        mode = _mode(place)
        return mode is None or stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)

    def seen(self, path: Any, *, follow: bool = True) -> Any:
        """Where the content of a path lies now (with `follow`, of what it leads to if it is a link)."""
        if not self.is_ours(path):
            return path
        place = self.absolute(path)
        upper = self._upper + place
        mode = _mode(upper)
        if mode is not None:
            if follow and stat.S_ISLNK(mode):  # it may lead to something that was left below
                return self.seen(_readlink(upper))
            return upper
        if self._is_gone(place):
            return upper
        given = os.fsdecode(path)
        return path if given == self.shown(given) and _getcwd() == self.cwd() else place

    def exists(self, path: Any) -> bool:
        return _mode(self.seen(path, follow=False)) is not None

    def is_folder(self, path: Any) -> bool:
        try:
            return stat.S_ISDIR(_stat(self.seen(path)).st_mode)
        except OSError:
            return False

    def changed(self, path: Any, *, keep: bool) -> Any:
        """Where a path is to be written; with `keep`, what it holds is there already."""
        if not self.is_ours(path):
            return path
        place = self.absolute(path)
        parent = os.path.dirname(place)
        if not self.is_folder(parent):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
        upper = self._upper + place
        if stat.S_ISLNK(_mode(upper) or 0):
            return self.changed(_readlink(upper), keep=keep)
        self._make_folder(parent)
        if keep and _mode(upper) is None and self.exists(place) and not self.is_folder(place):
            _copy(self.seen(place), upper)
        if not stat.S_ISDIR(_mode(place) or 0):  # what a folder held stays deleted when it is made anew
            self._deleted.pop(place, None)
        self._written[place] = None
        return upper

    def _is_gone(self, place: str) -> bool:
        return bool(self._gone) and any(one in self._gone for one in _with_parents(place))

    def _make_folder(self, place: str) -> None:
        missing = [one for one in _with_parents(place) if _mode(self._upper + one) is None]
        for one in reversed(missing):
            _mkdir(self._upper + one)

    # -- changes ---------------------------------------------------------------------------------------------------

    def make_folder(self, path: Any) -> None:
        if self.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(path))
        _mkdir(self.changed(path, keep=False))

    def remove(self, path: Any) -> None:
        """Let a file, or a folder with everything in it, be gone."""
        if not self.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
        place = self.absolute(path)
        self._throw_away(self._upper + place)
        for one in [one for one in self._written if _is_below(one, place)]:
            del self._written[one]
        if not self._is_gone(place) and _mode(place) is not None:
            self._gone.add(place)
            self._deleted[place] = None

    def _throw_away(self, upper: str) -> None:
        if _mode(upper) is not None:
            _rename(upper, os.path.join(self._folder, f"gone-{next(self._trash)}"))

    def remove_folder(self, path: Any) -> None:
        if self.is_folder(path) and self.names(path):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), os.fspath(path))
        self.remove(path)

    def move(self, source: Any, target: Any) -> None:
        if not self.exists(source):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(source), None, os.fspath(target))
        if self.is_ours(target):
            self._throw_away(self._upper + self.absolute(target))
        self._copy_tree(source, self.changed(target, keep=False))
        if self.is_ours(target) and self.is_folder(target):
            self._gone.add(self.absolute(target))  # what lay there before is not mixed with what comes
        if self.is_ours(source):
            self.remove(source)
        elif not self.is_folder(source):
            _unlink(source)

    def _copy_tree(self, source: Any, goal: Any) -> None:
        if not self.is_folder(source):
            _copy(self.seen(source), goal)
            return
        _mkdir(goal)
        for name in self.names(source):
            self._copy_tree(os.path.join(os.fsdecode(source), name), os.path.join(os.fsdecode(goal), name))

    def copy(self, source: Any, target: Any) -> None:
        """A second name for a file is a second file here: only one of them is going to be changed, if any."""
        if self.exists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(source), None, os.fspath(target))
        _copy(self.seen(source), self.changed(target, keep=False))

    def link(self, source: Any, target: Any) -> None:
        """A symbolic link. It never leads out of the upper folder, so that nothing is written through it."""
        if self.exists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(source), None, os.fspath(target))
        goal = self.absolute(os.path.join(os.path.dirname(self.absolute(target)), os.fsdecode(source)))
        _symlink(self._upper + goal, self.changed(target, keep=False))

    # -- folders ---------------------------------------------------------------------------------------------------

    def names(self, path: Any) -> list[str]:
        return [entry.name for entry in self.entries(path)]

    def entries(self, path: Any) -> Iterator[os.DirEntry[str]]:
        """What a folder holds, of both layers."""
        place = self.absolute(path)
        upper, seen = self._upper + place, self.seen(path)
        above: set[str] = set()
        if self.is_ours(path) and _mode(upper) is not None:
            with _scandir(upper) as found:
                for entry in found:
                    above.add(entry.name)
                    yield entry
            if self._is_gone(place) or _mode(place) is None:
                return
            seen = place
        with _scandir(os.fsdecode(seen)) as found:
            for entry in found:
                if entry.name not in above and not self._is_gone(os.path.join(place, entry.name)):
                    yield entry


def _caches() -> list[str]:
    named = [os.environ[name] for name in _CACHES if os.environ.get(name)]
    return [os.path.abspath(one) for one in (*named, os.path.expanduser("~/.cache"), os.path.expanduser("~/Library"))]


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _with_parents(place: str) -> Iterator[str]:
    while place not in ("/", ""):
        yield place
        place = os.path.dirname(place)


def _mode(path: Any) -> int | None:
    try:
        return _lstat(path).st_mode
    except (OSError, ValueError):
        return None


def _copy(source: Any, target: Any) -> None:
    with _open(source, "rb") as taken, _open(target, "wb") as given:
        while piece := taken.read(1 << 20):
            given.write(piece)
    _chmod(target, _stat(source).st_mode | stat.S_IWUSR)
