"""Looks at the file that a crash was about: whether it is there, how long it is, what lies beside it."""

from __future__ import annotations

import difflib
import os
import sys
import traceback
from pathlib import Path

from torchmedic.facts import FileAtCrash
from torchmedic.redaction import redact

_MOST_NEIGHBOURS = 8
_BEGINNING = 24
_MOST_FOLDERS_ABOVE = 4
_TORCH_LOAD = os.path.join("torch", "serialization.py")


def file_at_crash(error: BaseException) -> FileAtCrash | None:
    """The file that an OSError names, or that `torch.load` was reading."""
    path = _path_of(error)
    if path is None:
        return None
    whole = Path(path).expanduser().absolute()
    folder = next((parent for parent in whole.parents if parent.is_dir()), whole.parent)
    beside = _names(folder)
    missing = whole.relative_to(folder).parts[0]
    script = _script_folder()
    lies_below = _lies_below(path, script)
    return FileAtCrash(
        path=redact(path),
        absolute=redact(str(whole)),
        exists=whole.exists(),
        size=whole.stat().st_size if whole.is_file() else None,
        beginning=_beginning(whole),
        existing=redact(os.path.relpath(folder)),
        near=tuple(difflib.get_close_matches(missing, beside, n=3, cutoff=0.6)),
        beside=tuple(beside[:_MOST_NEIGHBOURS]),
        cwd=redact(os.path.basename(os.getcwd())),
        lies_below=redact(os.path.relpath(lies_below)) if lies_below is not None else "",
        below_script=lies_below is not None and lies_below == script,
    )


def _script_folder() -> Path | None:
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return Path(file).absolute().parent if isinstance(file, str) else None


def _lies_below(path: str, script: Path | None) -> Path | None:
    """A folder from which a relative path would have led to what was looked for."""
    here = Path.cwd()
    above = [folder for folder in list(here.parents)[:_MOST_FOLDERS_ABOVE] if folder != folder.parent]
    folders = [*([script] if script is not None else []), *above]
    if Path(path).is_absolute() or path.startswith("~"):
        return None
    return next((folder for folder in folders if folder != here and (folder / path).exists()), None)


def _path_of(error: BaseException) -> str | None:
    named = getattr(error, "filename", None) if isinstance(error, OSError) else None
    if named is None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_name == "load" and frame.f_code.co_filename.endswith(
                os.path.join("torch", "serialization.py")
            ):
                named = frame.f_locals.get("f")
    named = getattr(named, "name", named)
    return os.fspath(named) if isinstance(named, (str, os.PathLike)) else None


def _names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return []


def _beginning(path: Path) -> str:
    """The first bytes as text: a page of HTML or a pointer of Git LFS instead of weights shows here."""
    try:
        with path.open("rb") as file:
            return redact(file.read(_BEGINNING).decode("ascii", "replace"))
    except OSError:
        return ""
