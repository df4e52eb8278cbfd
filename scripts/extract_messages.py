"""Collects every sentence that users read into the message catalogue, and brings the translations up to date.

Messages stay plain f-strings in the code. Here each becomes a template: what varies is a numbered place (`{0}`), and
what only English grammar varies is a choice (`{is|are}`) that no other language need repeat.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

from torchmedic.translation.files import CATALOGUE, LANGUAGES, Entry, po_path, po_text, read_po
from torchmedic.translation.phrases import core

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src/torchmedic"
TEMPLATE = CATALOGUE / "torchmedic.pot"

# Where sentences are made: rules and what they are drawn with, and the parts of a run that put words into its facts.
SOURCES = (
    "findings.py", "triage.py", "history.py", "curves.py", "rules", "render", "cli", "replay", "checkups",
    "store.py",
)  # fmt: skip
_NEVER_SHOWN = (
    "code", "name", "family", "confidence", "severity", "phase", "op", "mark", "metavar", "status", "style", "encoding",
    "errors", "prefix", "id", "kind", "category", "mode", "dtype", "event", "tensor", "field", "parameter", "module",
)  # fmt: skip
_FOR_PROGRAMS = ("code", "name", "family", "severity", "confidence", "status")
_SLOTS = ("headline", "label", "title", "detail", "why", "suspect", "how", "help", "tell_apart")
_ASKS = re.compile(
    r"startswith|endswith|r?split|r?partition|remove(prefix|suffix)|replace|get|getattr|hasattr|r?find|r?index|count|"
    r"encode|decode|[lr]?strip|setdefault|pop|search|match|fullmatch|findall|finditer|sub|compile|execute|"
    r"import_module|get_close_matches|debug|NewType|TypeVar|field|Choice|Path|open|strftime|mkdtemp|query|sql|fetch.*|"
    r"add_task|TextColumn|say|phrase|environ|Style|cast|_?column_sql|rglob|glob|format"
)
_GRAMMAR = frozenset(
    "|s|es|is|are|was|were|has|have|a|an|it|they|y|ies|do|does|its|their|it is|they are|this|these|that|those|one|ones|"  # noqa: SIM905
    "it has|they have|itself|themselves|them|goes|go|makes|make|holds|hold|loses|lose|stands|stand|names|name|lies|"
    "lie|waits|wait|calls|call|leaves|leave|updates|update|agrees|agree".split("|")
)
_COUNTING = ("many", "counted")
# What the code puts together from words that are chosen elsewhere.
_JOINED = {
    "cli/_memory_answer.py": ("{0} to spare", "{0} too much"),
    "render/memory.py": (
        *("parameters", "gradients", "activations", "temporaries", "workspace", "buffers"),
        *("{0} parameters, {1}", "{0} gradients, {1}", "{0} activations, {1}", "{0} temporaries, {1}"),
        *("{0} workspace, {1}", "{0} buffers, {1}", "{0} optimizer state, {1}"),
    ),
    "rules/data/_preparing.py": ("{0} at {1}",),
    "rules/data/_offline.py": ("{0} image{s|}", "{0} mask{s|}", "{0} item{s|}", "{0} byte{s|}"),
    "rules/data/same_data_in_train_and_test.py": ("the",),
    "rules/errors/empty_filter.py": ("`{0}` ({1}) holds {2}",),
    "rules/errors/missing_key.py": ("key",),
    "rules/data/missing_value_in_file.py": ("is", "are"),
    "render/curves.py": ("loss", "score"),
    "render/text.py": ("note: ", "ruled out: ", "help: ", "more: "),
    "cli/explain.py": ("Symptoms",),
    "rules/wiring/same_gradient_applied_twice.py": ("{0} built at {1}",),
    "rules/numerics/zero_std_in_group.py": ("the groups {0}",),
}
_WORD = re.compile(r"[A-Za-z]{2,}")
_CODE = re.compile(r"`[^`]*`|\{[^{}]*\}")
_SQL = r"SELECT|USING |CREATE |GROUPING|WHERE|FILTER|VARCHAR|\b(AND|NOT|OR|IS|AS|NULL|CAST|CASE|WHEN|FROM|SET|COPY) "
_PYTHON = r"^[+-] |\w\(\{\d\}|^\[?[\w.]+\([^)]|^from \w+ import|^import \w+|^(return|def|batch|values|fields) ?[{=(\\[]"
_NAMES = r"^[\w{}-]+\.\w+$|^[\w{}]*[_.=/][\w{}./=]*$|^--|://|</|=\"|ignore_errors|^filename, |^csv, |^bold "
_MACHINE = re.compile(rf"{_SQL}|{_PYTHON}|{_NAMES}|\\[bdswWDS(.]|\n|\(\?|\.\*(?!\.)|count\(\*")


def messages(path: Path) -> Iterator[str]:
    """Every template that a file can say."""
    tree = _with_choices(ast.parse(path.read_text(encoding="utf-8")))
    filled_in = {name.id for text in ast.walk(tree) if isinstance(text, ast.JoinedStr) for name in _names(text)}
    seen: set[int] = set()
    is_command = "cli" in path.parts
    for node, parents in _walk(tree, ()):
        if isinstance(node, ast.Call) and _called(node) in _COUNTING:
            yield from _counted(node)
        if id(node) in seen or not _is_text(node):
            continue
        if _is_docstring(node, parents):
            if is_command and _is_command(parents[-2]):
                yield from _paragraphs(node.value)  # type: ignore[attr-defined]
            continue
        parts = list(_parts(node))
        seen.update(id(part) for part in _text_nodes(node))
        template = _joined(parts)
        if path.name == "text.py" and "html" in path.parts and isinstance(parents[-1], ast.Dict):
            is_said = node in parents[-1].values
        else:
            is_said = not _is_hidden(parents, node) and _is_said(template, parents, filled_in)
        if is_said:
            yield core(template)


def _walk(node: ast.AST, parents: tuple[ast.AST, ...]) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """Every node with its ancestors, outer ones first."""
    yield node, parents
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, (*parents, node))


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr)


def _text_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A text and those that it is put together from; what stands in its places speaks for itself."""
    yield node
    if isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            if _is_text(side):
                yield from _text_nodes(side)
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            if isinstance(part, ast.Constant):
                yield part
            elif isinstance(part, ast.FormattedValue):
                if _choice(part.value):
                    yield from ast.walk(part.value)
                if part.format_spec is not None:
                    yield from ast.walk(part.format_spec)


def _parts(node: ast.AST) -> Iterator[str | None]:
    """Literal pieces; None where something varies."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield from _parts(part)
    elif isinstance(node, ast.BinOp) and _is_text(node):
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif isinstance(node, ast.FormattedValue):
        choice = _choice(node.value)
        yield "{" + choice + "}" if choice else None
    else:
        yield None


def _choice(node: ast.AST) -> str:
    """`is|are`, where an f-string chooses between forms of one word."""
    if not isinstance(node, ast.IfExp):
        return ""
    forms = [side.value for side in (node.body, node.orelse) if isinstance(side, ast.Constant)]
    return "|".join(map(str, forms)) if len(forms) == 2 and set(forms) <= _GRAMMAR else ""


def _joined(parts: list[str | None]) -> str:
    text, number, after_place = "", 0, False
    for part in parts:
        if part is not None:
            text += part
        elif not after_place:
            text += f"{{{number}}}"
            number += 1
        after_place = part is None or (part == "" and after_place)
    return text


def _is_docstring(node: ast.AST, parents: tuple[ast.AST, ...]) -> bool:
    return bool(parents) and isinstance(parents[-1], ast.Expr)


def _is_command(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name in ("command", "main")


def _paragraphs(docstring: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", docstring.strip()):
        yield " ".join(paragraph.split())


def _is_hidden(parents: tuple[ast.AST, ...], node: ast.AST) -> bool:
    """Whether a text is for the machine: compared, looked up, part of a pattern, or the message of an own error."""
    below = node
    for parent in reversed(parents):
        if isinstance(parent, ast.Compare | ast.MatchValue) or (
            isinstance(parent, ast.Subscript) and parent.slice is below
        ):
            return True
        if isinstance(parent, ast.Dict) and any(key is below for key in parent.keys):
            return True
        if isinstance(parent, ast.keyword) and parent.arg in _NEVER_SHOWN:
            return True
        if isinstance(parent, ast.Call) and below in parent.args and _ASKS.fullmatch(_called(parent)):
            return True
        if isinstance(parent, ast.Raise) and not (
            isinstance(parent.exc, ast.Call)
            and _called(parent.exc)
            in ("OneLineError", "DataError", "RunFileError", "UnknownCard", "UsageError", "BadParameter")
        ):
            return True
        if isinstance(parent, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id in _FOR_PROGRAMS for target in parent.targets
        ):
            return True
        if isinstance(parent, ast.stmt):
            return False
        below = parent
    return False


def _called(call: ast.Call) -> str:
    function = call.func
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _is_said(template: str, parents: tuple[ast.AST, ...], filled_in: set[str]) -> bool:
    """Whether a template is a sentence, or a piece of one."""
    bare = _CODE.sub(" ", template)
    if not _WORD.search(bare):
        return False
    if _in_slot(parents):
        return True
    if _MACHINE.search(template):
        return False
    return " " in core(template) or _within_text(parents) or _is_alternative(parents, filled_in)


def _is_alternative(parents: tuple[ast.AST, ...], filled_in: set[str]) -> bool:
    """Whether a word is one of several that a variable may hold, and that variable stands in a text."""
    statement = next((parent for parent in reversed(parents) if isinstance(parent, ast.stmt)), None)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return isinstance(parents[-1], ast.IfExp) and any(isinstance(t, ast.Name) and t.id in filled_in for t in targets)


def _names(text: ast.JoinedStr) -> Iterator[ast.Name]:
    for part in text.values:
        if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name):
            yield part.value


def _with_choices(tree: ast.Module) -> ast.Module:
    """`verb = "is" if one else "are"` is a choice of grammar wherever `verb` stands in a text."""
    chosen = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _choice(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Name):
            node.value = chosen.get(node.value.id, node.value)
    return tree


def _counted(call: ast.Call) -> Iterator[str]:
    """`many(count, "row")` says `1 row` or `3 rows`."""
    for noun in call.args[1:2]:
        if isinstance(noun, ast.Constant) and isinstance(noun.value, str):
            yield f"{{0}} {noun.value}{{{'es' if noun.value.endswith(('s', 'x')) else 's'}|}}"


def _in_slot(parents: tuple[ast.AST, ...]) -> bool:
    return any(isinstance(parent, ast.keyword) and parent.arg in _SLOTS for parent in parents[-3:]) or (
        isinstance(parents[-1], ast.Assign) and getattr(parents[-1].targets[0], "id", "") in _SLOTS
    )


def _within_text(parents: tuple[ast.AST, ...]) -> bool:
    return any(isinstance(parent, ast.JoinedStr | ast.BinOp) for parent in parents)


def catalogue() -> dict[str, set[str]]:
    """Every message with the files that say it."""
    found: dict[str, set[str]] = {}
    for source in SOURCES:
        path = PACKAGE / source
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            name = str(file.relative_to(PACKAGE))
            for message in (*messages(file), *_JOINED.get(name, ())):
                found.setdefault(message, set()).add(name)
    return found


def updated(known: list[Entry], wanted: dict[str, set[str]]) -> list[Entry]:
    """The messages that are said now, with the translations they have, in the order of their files."""
    translations = {entry.english: entry.translated for entry in known}
    in_order = sorted(wanted.items(), key=lambda item: (min(item[1]), item[0]))
    return [Entry(english, translations.get(english, ""), tuple(sorted(files))) for english, files in in_order]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a catalogue is out of date")
    wanted = catalogue()
    is_stale = False
    for path, language in [(TEMPLATE, ""), *((po_path(one), one) for one in LANGUAGES)]:
        entries = updated(read_po(path) if language else [], wanted)
        text = po_text(entries, language)
        missing = [entry.english for entry in entries if language and not entry.translated]
        print(
            f"{path.relative_to(ROOT)}: {len(entries)} messages"
            + (f", {len(missing)} not translated" if missing else "")
        )
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            is_stale = True
            if not parser.parse_args().check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    if is_stale and parser.parse_args().check:
        raise SystemExit("run scripts/extract_messages.py")


if __name__ == "__main__":
    main()
