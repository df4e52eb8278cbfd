"""Names and modules that libraries have moved or removed, and where they are now."""

from __future__ import annotations

MOVED_MODULES = {
    "torch._six": "removed in torch 1.13: use `str`, `int`, `float('inf')` and `collections.abc` themselves",
    "torchtext.legacy": "removed in torchtext 0.12; torchtext itself is no longer developed",
    "torch.utils.data.datapipes.iter.grouping": "moved to torchdata",
    "sklearn.externals": "removed in scikit-learn 0.23: `import joblib`",
    "sklearn.cross_validation": "removed: use `sklearn.model_selection`",
    "pytorch_lightning.metrics": "moved to the package torchmetrics: `import torchmetrics`",
    "transformers.modeling_bert": "moved: use `transformers.models.bert.modeling_bert`",
    "torchvision.models.utils": "moved: use `torch.hub.load_state_dict_from_url`",
    "torchvision.transforms.functional_tensor": "moved: use `torchvision.transforms.functional`",
    "numpy.core": "renamed in NumPy 2: use `numpy` itself",
    "torch_geometric.data.dataloader": "moved: use `torch_geometric.loader`",
}

MOVED_NAMES = {
    ("transformers", "AdamW"): "removed in transformers 5: use `torch.optim.AdamW`",
    ("torch", "string_classes"): "removed: use `str`",
    ("torch.optim.lr_scheduler", "_LRScheduler"): "renamed: use `LRScheduler`",
    ("torch_geometric.data", "DataLoader"): "moved: `from torch_geometric.loader import DataLoader`",
    ("torch_geometric.data", "DataListLoader"): "moved: `from torch_geometric.loader import DataListLoader`",
    ("torch_geometric.data", "NeighborSampler"): "moved: `from torch_geometric.loader import NeighborSampler`",
    ("torch_geometric.data", "NeighborLoader"): "moved: `from torch_geometric.loader import NeighborLoader`",
    ("torchvision.models.utils", "load_state_dict_from_url"): "moved: `from torch.hub import load_state_dict_from_url`",
    ("pytorch_lightning.metrics", "Accuracy"): "moved: `from torchmetrics import Accuracy`",
    ("sklearn.externals", "joblib"): "removed: `import joblib`",
    ("torch.utils.data.dataloader", "_SingleProcessDataLoaderIter"): "private: iterate over the DataLoader itself",
    ("collections", "Iterable"): "moved: `from collections.abc import Iterable`",
    ("collections", "Mapping"): "moved: `from collections.abc import Mapping`",
    ("collections", "Sequence"): "moved: `from collections.abc import Sequence`",
    ("numpy", "float"): "removed in NumPy 1.24: use `float` or `numpy.float64`",
    ("scipy.misc", "imread"): "removed: use `imageio.v3.imread`",
    ("scipy.integrate", "simps"): "renamed: use `simpson`",
}
