"""Live details of a crash that its frames alone do not hold: keys, signatures, where a None was made, empty tables."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class MissingKey(Observation):
    """A key that a mapping or a table does not have, and those it has.

    `is_position` says that it is a number below the count of rows, where rows go by other names: a place was meant.
    `padded` of the keys begin or end with a blank. `method` is what was called to ask for it, as `pop`.
    """

    kind: ClassVar[str] = "missing-key"
    container: str
    type: str
    key: str
    key_type: str = "str"
    near: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    count: int = 0
    same_as_text: bool = False
    is_position: bool = False
    rows: int = 0
    padded: int = 0
    method: str = ""
    step: int | None = None


@fact
class FailedCall(Observation):
    """The call that a TypeError refused: what was called, its signature, what was given."""

    kind: ClassVar[str] = "failed-call"
    callee: str
    name: str
    signature: str = ""
    parameters: tuple[str, ...] = ()
    defined: Location | None = None
    given: int = 0
    keywords: tuple[str, ...] = ()
    is_module: bool = False
    is_class: bool = False
    lacks_self: bool = False
    step: int | None = None


@fact
class FailedUnpack(Observation):
    """The tuple of names that could not be filled; `span` is where it stands: `line:column-line:column`."""

    kind: ClassVar[str] = "failed-unpack"
    target: str
    span: str
    step: int | None = None


@fact
class NoneOrigin(Observation):
    """How an expression that turned out to be None came to be.

    `returns` counts the `return` statements with a value in the function that made it; 0 means that it has none.
    """

    kind: ClassVar[str] = "none-origin"
    expression: str
    assigned: Location | None = None
    maker: str = ""
    maker_defined: Location | None = None
    maker_end: Location | None = None
    returns: int | None = None
    is_inplace_method: bool = False
    step: int | None = None


@fact
class NodeTypeLeftOut(Observation):
    """A type of node that a layer needs for the edges `edge_type`, and that is not among those it was `given`."""

    kind: ClassVar[str] = "node-type-left-out"
    node_type: str
    edge_type: tuple[str, ...]
    given: tuple[str, ...] = ()
    step: int | None = None


@fact
class FileAtCrash(Observation):
    """The file that could not be opened or read. `existing` is the deepest folder of its path that is there.

    `lies_below` is another folder, of the script or above the working directory, from which a relative path would have
    led to it; `below_script` says that it is the script's own.
    """

    kind: ClassVar[str] = "file-at-crash"
    path: str
    absolute: str = ""
    exists: bool = False
    size: int | None = None
    beginning: str = ""
    existing: str = ""
    near: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    cwd: str = ""
    lies_below: str = ""
    below_script: bool = False
    step: int | None = None


@fact
class EmptyFilter(Observation):
    """A table operation that took rows and left none; `conditions` are `(text, rows left)` in their order."""

    kind: ClassVar[str] = "empty-filter"
    where: Location
    operation: str
    table: str
    rows: int
    conditions: tuple[tuple[str, int], ...] = ()
    hints: tuple[str, ...] = ()
    still_held: bool = False
    step: int | None = None


@fact
class UsedUpGenerator(Observation):
    """A generator that had ended when the script died, held by a variable of its frames or an attribute of one."""

    kind: ClassVar[str] = "used-up-generator"
    variable: str
    path: str
    function: str
    step: int | None = None


@fact
class NumberAsText(Observation):
    """A text that spells a number, where a number was needed; `written` is the line of a file that spells it.

    `setting` is what the script calls it where it is not yet `name`, and `handed` the call that gives it on as `name`.
    """

    kind: ClassVar[str] = "number-as-text"
    name: str
    text: str
    written: Location | None = None
    setting: str = ""
    handed: Location | None = None
    step: int | None = None


@fact
class MissingCell(Observation):
    """A NaN that an operation took for a text: a cell that the reading of a table, at `where`, made a missing value.

    `missing` of the `rows` cells of `column` are so; `words` is how the file spells such cells, as far as it was found.
    """

    kind: ClassVar[str] = "missing-cell"
    name: str
    column: str
    missing: int
    rows: int
    where: Location
    words: tuple[str, ...] = ()
    step: int | None = None


@fact
class TextColumn(Observation):
    """A column of a table that is text where numbers were needed: `strange` of its `rows` cells spell no number.

    `words` are the most frequent of these, `row` the label of the first, `where` the line that reads the table.
    """

    kind: ClassVar[str] = "text-column"
    column: str
    words: tuple[str, ...]
    strange: int
    rows: int
    row: int | None = None
    where: Location | None = None
    step: int | None = None


@fact
class UndecodableText(Observation):
    """Bytes that a codec refused, of `file` where one was open under the name `variable`.

    `reads_as` are encodings in which they read well, each with what the first strange place says in it; `is_sure`: no
    other reads well. `format` is what kind of file they begin, where that is no text.
    """

    kind: ClassVar[str] = "undecodable-text"
    codec: str
    byte: int
    position: int
    file: str = ""
    variable: str = ""
    reads_as: tuple[tuple[str, str], ...] = ()
    is_sure: bool = False
    format: str = ""
    step: int | None = None
