"""What import names are called on the package index, and the install line that fits an installed torch."""

from __future__ import annotations

from torchmedic.facts import Environment, Run

# Built against one torch each; the value says what works without the package.
TORCH_EXTENSIONS = {
    "torchvision": "",
    "torchaudio": "",
    "pyg_lib": "PyTorch Geometric runs without it, only slower; neighbour sampling needs it or torch-sparse",
    "torch_scatter": "PyTorch Geometric falls back to torch's own `scatter_reduce`",
    "torch_sparse": "PyTorch Geometric needs it only for `SparseTensor` and, without pyg-lib, for neighbour sampling",
    "torch_cluster": "PyTorch Geometric needs it only for `knn`, `radius` and `fps`",
    "torch_spline_conv": "PyTorch Geometric needs it only for `SplineConv`",
    "flash_attn": "`torch.nn.functional.scaled_dot_product_attention` does the same without it",
    "xformers": "`torch.nn.functional.scaled_dot_product_attention` does the same without it",
}
_GEOMETRIC = ("pyg_lib", "torch_scatter", "torch_sparse", "torch_cluster", "torch_spline_conv")

PIP_NAMES = {
    "attr": "attrs", "bs4": "beautifulsoup4", "cv2": "opencv-python", "dateutil": "python-dateutil",
    "dotenv": "python-dotenv", "faiss": "faiss-cpu", "fitz": "PyMuPDF", "git": "GitPython",
    "google.protobuf": "protobuf", "hydra": "hydra-core", "ignite": "pytorch-ignite", "lightning_fabric": "lightning",
    "magic": "python-magic", "mpl_toolkits": "matplotlib", "OpenSSL": "pyOpenSSL", "PIL": "pillow",
    "pkg_resources": "setuptools", "pl_bolts": "lightning-bolts", "ruamel": "ruamel.yaml",
    "serial": "pyserial", "skimage": "scikit-image", "sklearn": "scikit-learn",
    "torch_geometric": "torch-geometric", "umap": "umap-learn", "usb": "pyusb",
    "wx": "wxPython", "yaml": "PyYAML", "zmq": "pyzmq", "Crypto": "pycryptodome", "jwt": "PyJWT", "Levenshtein":
    "python-Levenshtein", "sentence_transformers": "sentence-transformers", "segmentation_models_pytorch":
    "segmentation-models-pytorch", "pytorch_lightning": "pytorch-lightning", "huggingface_hub": "huggingface-hub",
}  # fmt: skip


# What people mean, and others have put packages on the index under its misspellings.
_KNOWN = (
    "accelerate", "albumentations", "datasets", "diffusers", "lightning", "matplotlib", "networkx", "numpy", "pandas",
    "pytorch_lightning", "safetensors", "scipy", "seaborn", "sentence_transformers", "sentencepiece", "skimage",
    "sklearn", "tensorboard", "tensorflow", "tokenizers", "torch", "torch_geometric", "torchaudio", "torchdata",
    "torchmetrics", "torchtext", "torchvision", "transformers", "ultralytics",
)  # fmt: skip
_OTHERS = ("scapy",)  # one slip away, and a package of its own


def misspelt(module: str, installed: tuple[str, ...] = ()) -> str:
    """The well-known or installed package of which a name is one slip of the fingers away; nothing for other names.

    >>> misspelt("torchvison"), misspelt("nunpy"), misspelt("scapy"), misspelt("torchx"), misspelt("torchvision")
    ('torchvision', 'numpy', '', '', '')
    """
    if module in (*_KNOWN, *_OTHERS, *PIP_NAMES, *TORCH_EXTENSIONS):
        return ""
    return next((known for known in (*_KNOWN, *installed) if module in _slips(known)), "")


def _slips(name: str) -> set[str]:
    """All that one slip makes of a name: two letters exchanged, one left out, doubled or replaced."""
    places = range(len(name))
    swapped = {name[:i] + name[i + 1 : i + 2] + name[i] + name[i + 2 :] for i in places}
    left_out = {name[:i] + name[i + 1 :] for i in places[:-1]}
    doubled = {name[: i + 1] + name[i:] for i in places}
    replaced = {name[:i] + c + name[i + 1 :] for i in places[1:] for c in "abcdefghijklmnopqrstuvwxyz"}
    return (swapped | left_out | doubled | replaced) - {name}


def pip_name(module: str) -> str:
    """The name to install for a module to import.

    >>> pip_name("cv2"), pip_name("torch_scatter")
    ('opencv-python', 'torch-scatter')
    """
    top = module.partition(".")[0]
    if top in TORCH_EXTENSIONS:
        return top.replace("_", "-")
    return PIP_NAMES.get(module) or PIP_NAMES.get(top, top)


def torch_of(run: Run) -> tuple[str, str]:
    """The version of torch without its local part, and its build as wheels name it (`cpu`, `cu124`)."""
    environment = run.first(Environment)
    full = (environment.torch if environment else "") or run.info.torch
    version, _, local = full.partition("+")
    cuda = environment.torch_cuda if environment else ""
    build = local or (f"cu{cuda.replace('.', '')}" if cuda else "cpu" if environment and environment.torch else "")
    return version, build


def install_line(module: str, run: Run) -> str:
    """The pip line for an extension that fits the torch that is installed; general where that is not known."""
    version, build = torch_of(run)
    name = pip_name(module)
    if not version or not build:
        version, build = "VERSION", "BUILD"
    if module in _GEOMETRIC:
        return f"pip install {name} -f https://data.pyg.org/whl/torch-{_without_patch(version)}+{build}.html"
    if module == "flash_attn":
        return "pip install flash-attn --no-build-isolation"
    return f"pip install torch=={version} {name} --index-url https://download.pytorch.org/whl/{build}"


def placeholders(line: str) -> str:
    """How to fill a general line in."""
    if "BUILD" not in line:
        return ""
    return "VERSION and BUILD are the two halves of `python -c 'import torch; print(torch.__version__)'`"


def _without_patch(version: str) -> str:
    """Wheels for PyTorch Geometric are filed under the first patch release."""
    parts = version.split(".")
    return ".".join([*parts[:2], "0"]) if len(parts) == 3 and parts[2].isdigit() else version
