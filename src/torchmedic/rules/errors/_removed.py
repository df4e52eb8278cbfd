"""Attributes that libraries have taken out, and what stands in for them."""

from __future__ import annotations

import re

_ALIASES = {"bool": "bool_", "int": "int64", "float": "float64", "complex": "complex128"}

# By what the message calls the owner: a module, or the class of an object.
REMOVED = {
    **{("numpy", name): f"`{name}` itself, or `np.{exact}`," for name, exact in _ALIASES.items()},
    ("numpy", "object"): "`object` itself",
    ("numpy", "str"): "`str` itself",
    ("numpy", "product"): "`np.prod`",
    ("numpy", "cumproduct"): "`np.cumprod`",
    ("numpy", "alltrue"): "`np.all`",
    ("numpy", "sometrue"): "`np.any`",
    ("numpy", "in1d"): "`np.isin`",
    ("numpy", "row_stack"): "`np.vstack`",
    ("numpy", "trapz"): "`np.trapezoid`",
    ("numpy", "msort"): "`np.sort(…, axis=0)`",
    ("numpy", "asscalar"): "`array.item()`",
    ("PIL.Image", "ANTIALIAS"): "`Image.LANCZOS`",
    ("PIL.Image", "LINEAR"): "`Image.BILINEAR`",
    ("PIL.Image", "CUBIC"): "`Image.BICUBIC`",
    ("ImageDraw", "textsize"): "`draw.textbbox(…)`",
    ("FreeTypeFont", "getsize"): "`font.getbbox(…)`",
    ("DataFrame", "append"): "`pd.concat([table, rows])`",
    ("Series", "append"): "`pd.concat([series, others])`",
    ("DataFrame", "iteritems"): "`.items()`",
    ("Series", "iteritems"): "`.items()`",
    ("DataFrame", "ix"): "`.loc` for labels, `.iloc` for places",
    ("DataFrame", "applymap"): "`.map`",
    ("DataFrame", "as_matrix"): "`.to_numpy()`",
    ("Series", "as_matrix"): "`.to_numpy()`",
    ("DataFrame", "get_value"): "`.at[row, column]`",
    ("dict", "has_key"): "`key in …`",
    ("dict", "iteritems"): "`.items()`",
    ("time", "clock"): "`time.perf_counter()`",
    ("networkx", "from_numpy_matrix"): "`nx.from_numpy_array`",
    ("networkx", "to_numpy_matrix"): "`nx.to_numpy_array`",
    ("networkx", "info"): "`print(graph)`",
    ("torch", "symeig"): "`torch.linalg.eigh`",
    ("torch", "eig"): "`torch.linalg.eig`",
    ("torch", "lstsq"): "`torch.linalg.lstsq`",
    ("torch", "solve"): "`torch.linalg.solve`",
    ("torch", "matrix_rank"): "`torch.linalg.matrix_rank`",
    ("torch", "rfft"): "`torch.fft.rfft`",
    ("torch", "irfft"): "`torch.fft.irfft`",
    ("torch.fft", "irfftn2"): "`torch.fft.irfft2`",
    ("Tensor", "symeig"): "`torch.linalg.eigh(tensor)`",
    ("TfidfVectorizer", "get_feature_names"): "`.get_feature_names_out()`",
    ("CountVectorizer", "get_feature_names"): "`.get_feature_names_out()`",
    ("OneHotEncoder", "get_feature_names"): "`.get_feature_names_out()`",
}


# Parameters by the class or function and the name they had.
RENAMED = {
    ("Trainer", "tokenizer"): "`processing_class`",
    ("TrainingArguments", "evaluation_strategy"): "`eval_strategy`",
    ("TrainingArguments", "no_cuda"): "`use_cpu`",
    ("TrainingArguments", "per_gpu_train_batch_size"): "`per_device_train_batch_size`",
    ("Trainer", "gpus"): '`accelerator="gpu", devices=…`',
    ("Trainer", "tpu_cores"): '`accelerator="tpu", devices=…`',
    ("Trainer", "progress_bar_refresh_rate"): "`enable_progress_bar`",
    ("Trainer", "weights_summary"): "`enable_model_summary`",
    ("Trainer", "checkpoint_callback"): "`enable_checkpointing`, and the callback in `callbacks=[…]`",
    ("Trainer", "resume_from_checkpoint"): "`trainer.fit(…, ckpt_path=…)`",
    ("Trainer", "auto_lr_find"): "`Tuner(trainer).lr_find(model)`",
    ("OneHotEncoder", "sparse"): "`sparse_output`",
    ("read_csv", "error_bad_lines"): '`on_bad_lines="skip"`',
    ("read_csv", "squeeze"): '`.squeeze("columns")` after reading',
    ("TSNE", "n_iter"): "`max_iter`",
}


def parameter_instead_of(called: str, name: str) -> str:
    """What stands in for a parameter that is gone; `verbose` of the schedulers has nothing in its place.

    >>> parameter_instead_of("Trainer.__init__", "tokenizer"), parameter_instead_of("StepLR.__init__", "verbose")
    ('`processing_class`', 'nothing: print `scheduler.get_last_lr()`')
    """
    owner = called.removesuffix(".__init__").rpartition(".")[2]
    if name == "verbose" and (owner.endswith(("LR", "LROnPlateau", "WarmRestarts")) or owner == "LRScheduler"):
        return "nothing: print `scheduler.get_last_lr()`"
    return RENAMED.get((owner, name), "")


def instead_of(owner: str, name: str) -> str:
    """What stands in for a name that is gone.

    >>> instead_of("numpy", "product"), instead_of("_MultiProcessingDataLoaderIter", "next"), instead_of("a", "b")
    ('`np.prod`', '`next(iterator)`', '')
    """
    if name == "next" and re.search(r"Iter|iterator|generator", owner):
        return "`next(iterator)`"
    return REMOVED.get((owner, name), "") or REMOVED.get((owner.rpartition(".")[2], name), "")
