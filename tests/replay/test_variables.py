"""Tensors that the script can reach by a name are found there, and no library is walked through, let alone woken."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest
import torch

from torchmedic.probes.objects.spreads import tensors_in
from torchmedic.probes.source.frames import is_user_file


class _Lazy(types.ModuleType):
    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"`{name}` was asked for: the library would be imported")


def test_a_module_of_the_users_is_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_scales.py").write_text("import torch\nSCALE = torch.ones(2)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import own_scales  # type: ignore[import-not-found]

    monkeypatch.delitem(sys.modules, "own_scales")
    assert [path for path, _ in tensors_in(own_scales, "own_scales")] == ["own_scales.SCALE"]


def test_a_library_is_not() -> None:
    held = {"lazy": _Lazy("large"), "torch": torch, "x": torch.ones(2)}
    assert [path for path, _ in tensors_in(held, "held")] == ["held['x']"]


def test_a_file_of_the_users_that_is_linked_into_a_library_stays_theirs(tmp_path: Path) -> None:
    own, library = tmp_path / "own", tmp_path / "lib" / "site-packages"
    own.mkdir()
    library.mkdir(parents=True)
    (own / "model.py").touch()
    (library / "other.py").touch()
    (library / "model.py").symlink_to(own / "model.py")
    (library / "package").symlink_to(own)
    told = [is_user_file(str(library / name)) for name in ("other.py", "model.py", "package/model.py")]
    assert told == [False, True, True]


def test_a_package_that_is_linked_to_a_shared_cache_is_installed(tmp_path: Path) -> None:
    cache, library = tmp_path / ".cache" / "archive", tmp_path / "lib" / "site-packages"
    cache.mkdir(parents=True)
    library.mkdir(parents=True)
    (cache / "frame.py").touch()
    (library / "frame.py").symlink_to(cache / "frame.py")
    (library / "package").symlink_to(cache)
    assert not any(is_user_file(str(library / name)) for name in ("frame.py", "package/frame.py"))
