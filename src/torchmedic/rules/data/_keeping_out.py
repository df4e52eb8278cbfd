"""How bad values are kept out of what kind of data: a frame, an array, tensors of a graph, samples."""

from __future__ import annotations

from torchmedic.facts import ArraySeen, DataSource, EdgesSeen, NodesSeen, Run

_TENSORS = ("torch", "safetensors", "Tensor", "Parameter")
_ARRAYS = ("npy", "npz", "ndarray", "list", "tuple")
_MIXED = ("pickle", "dict")
_FRAMES = {
    "polars": "`df = df.filter(pl.col({column}).is_finite())`",
    "pyarrow": "`table = table.filter(pc.is_finite(table[{column}]))`",
    "datasets": "`data = data.filter(lambda row: math.isfinite(row[{column}]))`",
}
_PANDAS = "`df = df[np.isfinite(df[{column}])]`"


def source_of(run: Run, name: str) -> DataSource | None:
    """The data set of that name, as it was given."""
    return next((source for source in run.all(DataSource) if source.source == name), None)


def with_list(advice: str, source: DataSource | None) -> str:
    """With how all the bad places are listed: only what lies in files can be given to the command."""
    return f"{advice}: `--rows bad.parquet` lists every one" if source is None or source.files else advice


def rows_of_frame(source: DataSource | None, column: str) -> str:
    """Keeping the rows of a table out, in the words of the library that holds it."""
    library = source.format.partition(".")[0] if source is not None else ""
    told = _FRAMES.get(library, _PANDAS).format(column=repr(column))
    return f"or keep them out where they are read: {told}"


def parts_of_array(run: Run, source: DataSource | None, seen: ArraySeen) -> str:
    """Keeping the rows of an array out; of a graph these are nodes or edges, of a data set its samples."""
    owner, _, leaf = seen.name.rpartition(".")
    kind = source.format if source is not None else ""
    edges = [edges for edges in run.all(EdgesSeen) if edges.source == seen.source]
    finite = _finite("torch", leaf, seen)
    if "edge" in leaf and owner in [one.name for one in edges]:
        return f"or leave these edges out: `keep = {finite}`, then `edge_index[:, keep]` and `{leaf}[keep]`"
    if owner in [nodes.name for nodes in run.all(NodesSeen) if nodes.source == seen.source]:
        node, by_type = owner.rpartition(".")[2], any(one.tail for one in edges)
        return (
            f"or leave these nodes out: `keep = {finite}`, then `graph.subgraph({{'{node}': keep}})`"
            if by_type
            else f"or leave these nodes out: `keep = {finite}`, then `graph.subgraph(keep)`"
        )
    if "[" in seen.name or (kind and kind not in (*_TENSORS, *_ARRAYS, *_MIXED)):
        return "or leave these samples out: `torch.utils.data.Subset(dataset, good)` with the numbers of the others"
    if kind in _MIXED or not seen.shape or not kind:
        return "or keep them out where they are read, by `isfinite`"
    name = leaf if leaf.isidentifier() and leaf != "tensor" else "x"
    return f"or keep them out where they are read: `{name} = {name}[{_finite(_library(kind), name, seen)}]`"


def _library(kind: str) -> str:
    return "torch" if kind in _TENSORS else "np"


def _finite(library: str, name: str, seen: ArraySeen) -> str:
    """Which rows of an array are finite throughout."""
    told = f"{library}.isfinite({name})"
    if len(seen.shape) < 2:
        return told
    if library == "torch":
        return told + (".all(dim=1)" if len(seen.shape) == 2 else ".flatten(1).all(dim=1)")
    return told + (".all(axis=1)" if len(seen.shape) == 2 else f".reshape(len({name}), -1).all(axis=1)")
