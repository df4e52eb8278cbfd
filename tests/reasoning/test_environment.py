"""The environment rules on hand-made runs: cards, drivers and pasted logs that this machine does not have."""

from __future__ import annotations

from dataclasses import replace

import pytest

from torchmedic.facts import (
    Crash,
    Environment,
    FailedImport,
    Frame,
    HostWait,
    Location,
    Network,
    Observation,
    OpenmpRuntime,
    Package,
    Run,
    StartUp,
)
from torchmedic.findings import Diagnosis
from torchmedic.traceback_text import parse_traceback
from torchmedic.triage import examine

CUDA_BUILD = Environment(
    python="3.11.7",
    torch="2.6.0+cu124",
    torch_cuda="12.4",
    gpus=("NVIDIA A100",),
    driver="550.54.14",
    driver_cuda="12.4",
)
CPU_BUILD = replace(CUDA_BUILD, torch="2.6.0+cpu", torch_cuda="")


def a_crash(exception: str, message: str, source: str = "import x") -> Crash:
    line = Location(file="train.py", line=3, function="<module>", source=source)
    return Crash(exception=exception, message=message, frames=(Frame(location=line, is_user=True),))


def diagnoses(*seen: Observation) -> list[Diagnosis]:
    return list(examine(Run(observations=seen)).diagnoses)


def codes(*seen: Observation) -> list[str]:
    return [diagnosis.code for diagnosis in diagnoses(*seen)]


def help_of(diagnosis: Diagnosis) -> str:
    return "\n".join(f"{remedy.title} {remedy.detail}" for remedy in diagnosis.remedies)


def test_a_sound_environment_gets_silence() -> None:
    assert codes(CUDA_BUILD, Network(state="open", asked="pypi.org")) == []


def test_a_cpu_build_beside_a_gpu() -> None:
    (found,) = diagnoses(CPU_BUILD)
    assert (found.code, found.severity) == ("ENV001", "warning")
    assert "NVIDIA A100" in found.headline
    assert "whl/cu126" in help_of(found)


@pytest.mark.parametrize("environment", [replace(CPU_BUILD, gpus=()), replace(CPU_BUILD, torch_hip="6.2")])
def test_a_cpu_build_without_a_gpu_or_for_another_maker_is_fine(environment: Environment) -> None:
    assert codes(environment) == []


@pytest.mark.parametrize(("driver", "index"), [("13.0", "cu130"), ("12.2", "cu126"), ("11.4", "cu118")])
def test_the_build_offered_fits_the_driver(driver: str, index: str) -> None:
    (found,) = diagnoses(replace(CPU_BUILD, driver_cuda=driver))
    assert f"whl/{index}`" in help_of(found)


def test_a_driver_of_an_older_major_version() -> None:
    (found,) = diagnoses(replace(CUDA_BUILD, driver="470.82.01", driver_cuda="11.4"))
    assert found.code == "ENV002"
    assert "470.82.01 runs CUDA up to 11.4, and torch is built for CUDA 12.4" in found.headline
    assert any("525.60.13" in line for line in found.evidence)


def test_a_driver_of_the_same_major_version_will_do() -> None:
    assert codes(replace(CUDA_BUILD, driver="530.30.02", driver_cuda="12.1")) == []


def test_packages_built_for_another_torch_are_found_without_importing_them() -> None:
    packages = (
        Package(name="torchvision", version="0.20.0", wants_torch="2.5.0"),
        Package(name="torch-scatter", version="2.1.2+pt25cu121", wants_torch="2.5"),
        Package(name="torchaudio", version="2.6.0", wants_torch="2.6.0"),
    )
    found = diagnoses(replace(CUDA_BUILD, packages=packages))
    assert [(d.code, d.culprit.module) for d in found] == [("ENV003", "torchvision"), ("ENV003", "torch_scatter")]
    assert "torch==2.6.0 torchvision --index-url https://download.pytorch.org/whl/cu124" in help_of(found[0])
    assert "https://data.pyg.org/whl/torch-2.6.0+cu124.html" in help_of(found[1])
    assert "optional" in help_of(found[1])


@pytest.mark.parametrize(
    ("exception", "message", "package"),
    [
        ("OSError", "/e/site-packages/torch_scatter/_version_cuda.so: undefined symbol: _ZN3c10…", "torch_scatter"),
        ("ImportError", "/e/site-packages/flash_attn_2_cuda.cpython-311.so: undefined symbol: _ZN3c104…", "flash_attn"),
        ("RuntimeError", "operator torchvision::nms does not exist", "torchvision"),
        (
            "RuntimeError",
            "Detected that PyTorch and torchvision were compiled with different CUDA major versions.",
            "torchvision",
        ),
    ],
)
def test_compiled_parts_that_do_not_fit(exception: str, message: str, package: str) -> None:
    (found,) = diagnoses(a_crash(exception, message, f"import {package}"), CUDA_BUILD)
    assert (found.code, found.culprit.module) == ("ENV003", package)


def test_a_symbol_that_is_not_torchs_is_left_alone() -> None:
    assert "ENV003" not in codes(a_crash("ImportError", "/e/torch_sparse/_x.so: undefined symbol: png_read_row"))


def test_the_patch_release_shares_the_wheels_of_the_first() -> None:
    crash = a_crash("ModuleNotFoundError", "No module named 'torch_sparse'", "import torch_sparse")
    (found,) = diagnoses(crash, replace(CUDA_BUILD, torch="2.6.2+cu124"))
    assert found.code == "ENV004"
    assert "torch-2.6.0+cu124.html" in help_of(found)


def test_the_founding_case_of_the_neighbour_sampler_from_text() -> None:
    text = (
        'Traceback (most recent call last):\n  File "/srv/lab.py", line 9, in <module>\n    for b in loader:\n'
        "ImportError: 'NeighborSampler' requires either 'pyg-lib' or 'torch-sparse'\n"
    )
    crash = parse_traceback(text)
    assert crash is not None
    (found,) = diagnoses(crash)
    assert found.code == "ENV004"
    assert "`pyg-lib` or `torch-sparse`" in found.headline
    assert "VERSION and BUILD" in help_of(found)


@pytest.mark.parametrize(
    "message",
    [
        "numpy.dtype size changed, may indicate binary incompatibility. Expected 96, got 88 from PyObject",
        "numpy.core.multiarray failed to import",
        "Numpy is not available",
        "A module that was compiled using NumPy 1.x cannot be run in NumPy 2.0.1 as it may crash.",
    ],
)
def test_the_faces_of_the_numpy_clash(message: str) -> None:
    environment = replace(CUDA_BUILD, packages=(Package(name="numpy", version="2.0.1"),))
    (found,) = diagnoses(a_crash("ImportError", message, "import oldpkg"), environment)
    assert found.code == "ENV005"
    assert "numpy<2" in help_of(found)


def test_copies_of_gnus_openmp_are_fine_and_intels_beside_llvms_is_not() -> None:
    gnu = (OpenmpRuntime(name="libgomp-a34b3233.so.1"), OpenmpRuntime(name="libgomp.so.1"))
    assert codes(replace(CUDA_BUILD, openmp=gnu)) == []
    clash = (OpenmpRuntime(name="libiomp5.so"), OpenmpRuntime(name="libomp.so", package="sklearn"))
    (found,) = diagnoses(replace(CUDA_BUILD, openmp=clash, duplicate_openmp_allowed=True))
    assert found.code == "ENV006"
    assert any("KMP_DUPLICATE_LIB_OK" in line for line in found.evidence)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("no-names", "no host name resolves"),
        ("timeout", "no answer within 3 s"),
        ("open", "`pypi.org` answers, so the network is there"),
    ],
)
def test_how_far_the_network_reaches(state: str, said: str) -> None:
    crash = a_crash("ConnectionError", "HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded")
    (found,) = diagnoses(crash, Network(state=state, asked="pypi.org", wanted_host="huggingface.co"))
    assert found.code == "ENV007"
    assert "`huggingface.co`" in found.headline
    assert any(said in line for line in found.evidence)


def test_a_gateway_is_told_from_a_dead_network() -> None:
    crash = a_crash("SSLError", "certificate verify failed: self-signed certificate")
    network = Network(state="login-page", asked="pypi.org", answered_by="login.campus.example")
    (found,) = diagnoses(crash, network)
    assert (found.code, found.confidence) == ("ENV008", "proven")
    assert any("login.campus.example" in line for line in found.evidence)


@pytest.mark.parametrize(
    ("module", "package"),
    [("cv2", "opencv-python"), ("sklearn", "scikit-learn"), ("PIL", "pillow"), ("yaml", "PyYAML"), ("tqdm", "tqdm")],
)
def test_what_to_install_for_a_module(module: str, package: str) -> None:
    (found,) = diagnoses(a_crash("ModuleNotFoundError", f"No module named '{module}'", f"import {module}"))
    assert found.code == "ENV009"
    assert f"pip install {package}" in help_of(found)


def test_a_part_that_an_installed_package_lacks() -> None:
    crash = a_crash("ModuleNotFoundError", "No module named 'sklearn.nothing'", "import sklearn.nothing")
    seen = FailedImport(module="sklearn.nothing", distribution="scikit-learn", version="1.9.1")
    (found,) = diagnoses(crash, seen)
    assert found.headline == "`sklearn` has no module `nothing`"
    assert found.evidence == ("scikit-learn 1.9.1 is installed, and this part is not in it",)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("cannot import name 'DataLoader' from 'torch_geometric.data' (/x/y.py)", "ENV015"),
        ("cannot import name 'a' from partially initialized module 'm' (most likely due to a circular import)", None),
    ],
)
def test_names_that_moved(message: str, code: str | None) -> None:
    found = [c for c in codes(a_crash("ImportError", message)) if c.startswith("ENV")]
    assert found == ([code] if code else [])


@pytest.mark.parametrize("path", ["/srv/proj/random.py", r"C:\\Users\\me\\random.py"])
def test_a_hidden_module_of_python_is_told_from_text(path: str) -> None:
    found = diagnoses(a_crash("ImportError", f"cannot import name 'Random' from 'random' ({path})"))
    assert [d.code for d in found] == ["ENV010"]
    assert found[0].where is not None
    assert found[0].where.file == path


def test_a_name_that_python_itself_lacks_is_not_hidden() -> None:
    said = "cannot import name 'Randon' from 'random' (/usr/lib/python3.11/random.py)"
    assert codes(a_crash("ImportError", said)) == ["ENV015"]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("libGL.so.1: cannot open shared object file: No such file or directory", "opencv-python-headless"),
        ("libsndfile.so.1: cannot open shared object file: No such file or directory", "apt-get install libsndfile1"),
        ("libcudart.so.11.0: cannot open shared object file: No such file or directory", "torchmedic env"),
        ("/lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.30' not found", "conda-forge"),
    ],
)
def test_libraries_of_the_system(message: str, said: str) -> None:
    (found,) = diagnoses(a_crash("ImportError", message, "import cv2" if "GL" in message else "import thing"))
    assert found.code == "ENV013"
    assert said in help_of(found)


@pytest.mark.parametrize("total", [64 << 20, 64 << 30])
def test_a_bus_error_is_shared_memory_for_sure_only_where_that_is_small(total: int) -> None:
    said = "Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm)."
    environment = replace(CUDA_BUILD, shared_memory_total=total, shared_memory_free=1 << 20)
    found = next(d for d in diagnoses(a_crash("RuntimeError", said), environment) if d.code == "ENV011")
    assert found.confidence == ("proven" if total < 1 << 30 else "likely")
    assert ("64 MiB" in found.headline) == (total < 1 << 30)


def test_waiting_for_a_host_that_answers_is_no_finding() -> None:
    answered = HostWait(host="huggingface.co", seconds=9.0, attempts=40, failed=0)
    assert codes(StartUp(seconds=12.0, waits=(answered,), reached_step=True)) == []
    silent = replace(answered, failed=40)
    assert codes(StartUp(seconds=12.0, waits=(silent,), reached_step=True)) == ["ENV012"]


def test_slow_imports_are_broken_down() -> None:
    (found,) = diagnoses(StartUp(seconds=60.0, imports={"transformers": 31.0, "torch": 9.0}, weights=6.0))
    crowded = StartUp(seconds=60.0, imports={"transformers": 31.0, "torch": 9.0}, weights=6.0, crowded=True)
    assert codes(crowded) == []  # the time was other programs' too
    assert "imports took 40 s, 31 s of them for `transformers`" in found.headline
    assert "import of torch 9 s, torch.load 6 s" in found.evidence[0]


def test_hidden_cards() -> None:
    crash = a_crash("RuntimeError", "No CUDA GPUs are available", "model.cuda()")
    (found,) = diagnoses(crash, replace(CUDA_BUILD, visible_devices=""))
    assert found.code == "ENV016"
    assert any("CUDA_VISIBLE_DEVICES" in line for line in found.evidence)
