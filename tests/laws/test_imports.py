"""Every module imports alone, whichever is asked for first: no import at a module's top leads back to it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping

import pytest

from tests.laws.tree import module_name, package_files


def imports_at_once(source: str) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run as soon as the module does: not those in functions, nor those for type checkers alone."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting.extend(node.orelse)
        else:
            waiting.extend(ast.iter_child_nodes(node))


def needed_by(module: str, source: str, modules: frozenset[str]) -> set[str]:
    """The modules that must be there, to the end, before this one can go on; packages around it run before it anyway.

    Every name is asked of a module by `from`, so that nothing is there just because somebody else has imported it.
    """
    needed = set()
    for statement in imports_at_once(source):
        if isinstance(statement, ast.Import):
            ours = [alias.name for alias in statement.names if alias.name.split(".")[0] == "torchmedic"]
            assert not ours, f"{module}:{statement.lineno} imports {ours[0]} and would reach into it by its dots"
            continue
        base = statement.module or ""
        assert not statement.level, f"{module}:{statement.lineno} imports by dots"
        for alias in statement.names:
            name = f"{base}.{alias.name}"
            needed.add(name if name in modules else base)
    inner = {found for found in needed if found in modules}
    around = {outer for found in inner for outer in packages_around(found) if not f"{module}.".startswith(f"{outer}.")}
    return (inner | around) - {module}


def packages_around(module: str) -> list[str]:
    """
    >>> packages_around("torchmedic.facts.core")
    ['torchmedic', 'torchmedic.facts']
    """
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def circle_in(needs: Mapping[str, set[str]]) -> list[str]:
    """Modules each of which needs the next, the last one the first; nothing where there are none."""
    done: set[str] = set()

    def follow(module: str, path: list[str]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        for needed in sorted(needs.get(module, ())):
            if found := follow(needed, [*path, module]):
                return found
        done.add(module)
        return []

    return next((found for module in sorted(needs) if (found := follow(module, []))), [])


def test_no_module_needs_itself() -> None:
    sources = {module_name(path): path.read_text() for path in package_files()}
    modules = frozenset(sources)
    assert circle_in({name: needed_by(name, source, modules) for name, source in sources.items()}) == []


@pytest.mark.parametrize(
    ("sources", "circle"),
    [
        (
            {"torchmedic.a": "from torchmedic.b import x", "torchmedic.b": "from torchmedic import a"},
            ["torchmedic.a", "torchmedic.b", "torchmedic.a"],
        ),
        (
            {"torchmedic.p": "from torchmedic.p.q import x", "torchmedic.p.q": "from torchmedic.p import y"},
            ["torchmedic.p", "torchmedic.p.q", "torchmedic.p"],
        ),
        ({"torchmedic.p": "from torchmedic.p.q import x", "torchmedic.p.q": "x = 1"}, []),
        ({"torchmedic.a": "from torchmedic.b import x", "torchmedic.b": "def f():\n  from torchmedic import a"}, []),
    ],
)
def test_a_circle_is_noticed(sources: dict[str, str], circle: list[str]) -> None:
    modules = frozenset(sources)
    assert circle_in({name: needed_by(name, source, modules) for name, source in sources.items()}) == circle


def test_reaching_by_dots_is_noticed() -> None:
    with pytest.raises(AssertionError, match="by its dots"):
        needed_by("torchmedic.a", "import torchmedic.store", frozenset({"torchmedic.store"}))


def _import_all(modules: list[str]) -> subprocess.CompletedProcess[str]:
    program = f"import importlib\nfor name in {modules!r}:\n    importlib.import_module(name)"
    return subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)


def test_every_module_imports() -> None:
    names = [module_name(path) for path in package_files() if "_boot" not in path.parts and path.name != "__main__.py"]
    done = _import_all(names)
    assert done.returncode == 0, done.stderr


def test_a_module_that_does_not_import_is_noticed() -> None:
    assert "torchmedic.no_such_module" in _import_all(["torchmedic.settings", "torchmedic.no_such_module"]).stderr
