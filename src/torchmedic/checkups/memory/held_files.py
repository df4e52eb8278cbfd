"""Python's ways to files, led through the overlay: what the script reads is what it wrote, the disk stays as it was."""

from __future__ import annotations

import builtins
import functools
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torchmedic.checkups.memory.overlay import Overlay

_READING = ("stat", "access", "chdir", "listxattr", "getxattr", "statvfs", "pathconf")
_READING_LINKS = ("lstat", "readlink")
_LABELS = ("chmod", "lchmod", "chown", "lchown", "utime", "chflags", "setxattr", "removexattr")
# What the first argument of these functions is called.
_FIRST = ("path", "file", "src", "filename", "database")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def hold_files(folder: Path) -> Overlay | None:
    """Begin to keep the script's changes apart, in this folder; not where paths have drives."""
    if os.name != "posix":
        return None
    overlay = Overlay(folder)
    _lead_temporary_files(overlay)
    _lead_readers(overlay)
    _lead_writers(overlay)
    _lead_folders(overlay)
    _lead_open(overlay)
    return overlay


def _lead_temporary_files(overlay: Overlay) -> None:
    """They are real files, since libraries hand them to code that is not Python's; they go with the folder."""
    os.environ["TMPDIR"] = overlay.scratch
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None  # type: ignore[attr-defined]


def lead(overlay: Overlay, name: str, act: Callable[..., Any], owner: Any = os) -> None:
    """Replace a function by `act(true function, path, ...)`, for paths that the overlay is in charge of."""
    true = getattr(owner, name, None)
    if true is None:
        return

    @functools.wraps(true)
    def led(*args: Any, dir_fd: int | None = None, **kwargs: Any) -> Any:
        first = next((kwargs.pop(word) for word in _FIRST if word in kwargs), ".") if not args else args[0]
        path, args = first, args[1:]
        if isinstance(path, int):
            return true(path, *args, **kwargs)
        if dir_fd is not None:
            path = os.path.join(_folder_of(dir_fd), os.fsdecode(path))
        try:
            return act(true, path, *args, **kwargs)
        except OSError as error:
            if isinstance(error.filename, str):
                error.filename = overlay.shown(error.filename)
            raise

    setattr(owner, name, led)


_true_readlink = os.readlink


def _folder_of(descriptor: int) -> str:
    if sys.platform == "darwin":
        import fcntl

        return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
    return _true_readlink(f"/proc/self/fd/{descriptor}")


def _lead_readers(overlay: Overlay) -> None:
    def read(true: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        return true(overlay.seen(path, follow=kwargs.get("follow_symlinks", True)), *args, **kwargs)

    def read_link(true: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        answer = true(overlay.seen(path, follow=False), *args, **kwargs)
        return overlay.shown(answer) if isinstance(answer, str) else answer

    for name in _READING:
        lead(overlay, name, read)
    for name in _READING_LINKS:
        lead(overlay, name, read_link)
    os.getcwd = overlay.cwd
    os.getcwdb = lambda: os.fsencode(overlay.cwd())


def _lead_writers(overlay: Overlay) -> None:
    def remove(true: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        return overlay.remove(path) if overlay.is_ours(path) else true(path, *args, **kwargs)

    def remove_folder(true: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        return overlay.remove_folder(path) if overlay.is_ours(path) else true(path, *args, **kwargs)

    def make_folder(true: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        return overlay.make_folder(path) if overlay.is_ours(path) else true(path, *args, **kwargs)

    def truncate(true: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        return true(overlay.changed(path, keep=True), *args, **kwargs)

    def label(true: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        """Rights and times of a file that was not changed stay as they are."""
        seen = overlay.seen(path)
        if not overlay.is_ours(path) or overlay.shown(os.fsdecode(seen)) != os.fsdecode(seen):
            return true(seen, *args, **kwargs)
        os.stat(path)
        return None

    changes = {"remove": remove, "unlink": remove, "rmdir": remove_folder, "mkdir": make_folder, "truncate": truncate}
    for name, act in {**changes, **dict.fromkeys(_LABELS, label)}.items():
        lead(overlay, name, act)


def _lead_folders(overlay: Overlay) -> None:
    def move(true: Any, src: Any, dst: Any, *, src_dir_fd: Any = None, dst_dir_fd: Any = None) -> Any:
        src = os.path.join(_folder_of(src_dir_fd), src) if src_dir_fd is not None else src
        dst = os.path.join(_folder_of(dst_dir_fd), dst) if dst_dir_fd is not None else dst
        return overlay.move(src, dst) if overlay.is_ours(src) or overlay.is_ours(dst) else true(src, dst)

    def link(true: Any, src: Any, dst: Any, *args: Any, **kwargs: Any) -> Any:
        return overlay.link(src, dst) if overlay.is_ours(dst) else true(src, dst, *args, **kwargs)

    def double(true: Any, src: Any, dst: Any, **_kwargs: Any) -> Any:
        return overlay.copy(src, dst) if overlay.is_ours(src) or overlay.is_ours(dst) else true(src, dst)

    def names(true: Any, path: Any = ".") -> Any:
        found = overlay.names(os.curdir if path is None else path)
        return [os.fsencode(name) for name in found] if isinstance(path, bytes) else found

    for name in ("rename", "replace"):
        lead(overlay, name, move)
    lead(overlay, "symlink", link)
    lead(overlay, "link", double)
    lead(overlay, "listdir", names)
    lead(overlay, "scandir", lambda true, path=".": _Listing(overlay, path))

    import shutil

    def remove_tree(true: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        if not overlay.is_ours(path):
            return true(path, *args, **kwargs)
        if overlay.is_folder(path):
            return overlay.remove(path)
        ignored = args[0] if args else kwargs.get("ignore_errors", False)
        return None if ignored else os.scandir(path).close()

    lead(overlay, "rmtree", remove_tree, shutil)


class _Listing:
    """What `os.scandir` gives back, of both layers."""

    def __init__(self, overlay: Overlay, path: Any) -> None:
        self._entries = iter(list(overlay.entries(os.curdir if path is None else path)))

    def __iter__(self) -> _Listing:
        return self

    def __next__(self) -> os.DirEntry[str]:
        return next(self._entries)

    def __enter__(self) -> _Listing:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def close(self) -> None:
        return None


def _lead_open(overlay: Overlay) -> None:
    def opened(true: Any, path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if not any(letter in mode for letter in "wax+"):
            return true(overlay.seen(path), mode, *args, **kwargs)
        if "x" in mode and overlay.exists(path):
            raise FileExistsError(17, os.strerror(17), os.fspath(path))
        if "r" in mode and not overlay.exists(path):
            return true(overlay.seen(path), mode, *args, **kwargs)
        return true(overlay.changed(path, keep="w" not in mode), mode, *args, **kwargs)

    def opened_low(true: Any, path: Any, flags: int, mode: int = 0o777) -> Any:
        if not flags & _WRITES:
            return true(overlay.seen(path), flags, mode)
        there = overlay.exists(path)
        if there and flags & os.O_EXCL and flags & os.O_CREAT:
            raise FileExistsError(17, os.strerror(17), os.fspath(path))
        if not there and not flags & os.O_CREAT:
            return true(overlay.seen(path), flags, mode)
        return true(overlay.changed(path, keep=not flags & os.O_TRUNC), flags, mode)

    for owner in (builtins, io):
        lead(overlay, "open", opened, owner)
    lead(overlay, "open", opened_low)
