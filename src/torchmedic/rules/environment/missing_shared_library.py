"""A package that is installed but whose system library is not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Environment, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import links, user_line
from torchmedic.rules.environment._packages import pip_name

_CANNOT_OPEN = re.compile(
    r"([^\s:'\"]*[\\/])?(lib[\w+.\-]+?\.so[\w.]*|lib[\w+.\-]+\.dylib): cannot open shared object file"
)
_VERSION = re.compile(r"(/\S+|lib\S+): version `(GLIBCXX_[\d.]+|GLIBC_[\d.]+|CXXABI_[\d.]+)' not found")
_DLL = re.compile(
    r"WinError (?:126|127|182|1114)\][^\n]*?Error loading \"([^\"]+\.dll)\"|DLL load failed while importing (\w+)"
)
_SYSTEM = {
    "libGL.so": ("libgl1", "opencv-python-headless"),
    "libgthread-2.0.so": ("libglib2.0-0", "opencv-python-headless"),
    "libglib-2.0.so": ("libglib2.0-0", "opencv-python-headless"),
    "libSM.so": ("libsm6", "opencv-python-headless"),
    "libXext.so": ("libxext6", "opencv-python-headless"),
    "libXrender.so": ("libxrender1", "opencv-python-headless"),
    "libgomp.so": ("libgomp1", ""),
    "libsndfile.so": ("libsndfile1", ""),
    "libopenblas.so": ("libopenblas0", ""),
    "libpython": ("libpython3-dev", ""),
}
_CUDA = re.compile(r"^lib(?:cudart|cublas|cublasLt|cudnn|cufft|curand|cusparse|cusolver|nccl|nvrtc|cupti)\w*\.so")


class MissingSharedLibrary(Rule):
    """The dynamic loader does not find a library that a compiled package needs."""

    code = "ENV013"
    name = "missing-shared-library"
    symptoms = (Symptom.IMPORT_FAILS, Symptom.CRASH)
    tell_apart = "`lib….so: cannot open shared object file`, or a `GLIBC` version that is not found"
    needs = (Crash,)
    folds = ("ERR",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for crash in links(run):
            missing = _CANNOT_OPEN.search(crash.message)
            older = _VERSION.search(crash.message)
            if (unloaded := _DLL.search(crash.message)) is not None:
                yield self._unloaded(run, crash, unloaded[1] or unloaded[2])
                return
            if missing is not None:
                named, library = missing.groups()
                yield self._not_there(run, crash, library) if named else self._missing(run, crash, library)
                return
            if older is not None:
                yield self._older(run, crash, older.group(1), older.group(2))
                return

    def _unloaded(self, run: Run, crash: Crash, library: str) -> Diagnosis:
        """Windows names the library that could not be loaded, or only who asked for it."""
        name = library.replace("\\", "/").rpartition("/")[2]
        package = _asked_by(crash) or ("torch" if "torch" in crash.message else "")
        return self.diagnose(
            headline=f"Windows could not load `{name}`, or a library that it needs",
            confidence="likely",
            where=user_line(run, crash),
            label="loads it",
            culprit=Culprit(phase="setup", module=package or name),
            evidence=(
                "the file itself is often there: what is missing is the C++ runtime, or one of an other version",
            ),
            remedies=(
                Remedy(title="install the Visual C++ runtime: https://aka.ms/vs/17/release/vc_redist.x64.exe"),
                Remedy(
                    title=f"then install the package anew: `python -m pip install --force-reinstall {package or '…'}`",
                    detail="in an environment where conda and pip have not both installed it",
                ),
            ),
        )

    def _missing(self, run: Run, crash: Crash, library: str) -> Diagnosis:
        package = _asked_by(crash)
        by = f"`{package}` needs" if package else "an import needs"
        environment = run.first(Environment)
        return self.diagnose(
            headline=f"{by} the system library `{library}`, which is not on this machine",
            confidence="proven",
            where=user_line(run, crash),
            label="loads it",
            culprit=Culprit(phase="setup", module=package or library),
            evidence=_evidence(library, environment),
            remedies=_cures(library, package),
        )

    def _not_there(self, run: Run, crash: Crash, library: str) -> Diagnosis:
        """What a library needs is looked for by its name alone: a path was given by whoever loads it."""
        return self.diagnose(
            headline=f"there is no `{library}` at the path that is loaded",
            confidence="proven",
            where=user_line(run, crash),
            label="loads it",
            culprit=Culprit(phase="setup", module=library),
            remedies=(
                Remedy(
                    title=f"build `{library}` first, or mend the path: a relative one begins at the working directory"
                ),
            ),
        )

    def _older(self, run: Run, crash: Crash, library: str, version: str) -> Diagnosis:
        return self.diagnose(
            headline=f"a compiled package needs `{version}`, which this system's library does not have",
            confidence="proven",
            where=user_line(run, crash),
            label="loads it",
            culprit=Culprit(phase="setup", module=version),
            evidence=(f"the loader looked in `{library}`",),
            remedies=(
                Remedy(title="install an older build of the package, made for this system, or build it here"),
                Remedy(title="or, with conda, bring the newer library: `conda install -c conda-forge libstdcxx-ng`"),
            ),
        )


def _asked_by(crash: Crash) -> str:
    """The package of the innermost frame, or what the user's line imports."""
    for frame in reversed(crash.frames):
        match = re.search(r"[\\/](?:site|dist)-packages[\\/](\w+)", frame.location.file)
        if match is not None:
            return match.group(1)
    source = crash.user_frame.location.source if crash.user_frame else ""
    named = re.match(r"\s*(?:import|from)\s+(\w+)", source)
    return named.group(1) if named else ""


def _evidence(library: str, environment: Environment | None) -> tuple[str, ...]:
    if not _CUDA.search(library) or environment is None:
        return ()
    built = f"a build for CUDA {environment.torch_cuda}" if environment.torch_cuda else "a CPU-only build"
    return (f"`{library}` belongs to CUDA, and the installed torch {environment.torch} is {built}",)


def _cures(library: str, package: str) -> tuple[Remedy, ...]:
    if _CUDA.search(library):
        name = pip_name(package) if package else "PACKAGE"
        return (
            Remedy(
                title=f"install the build of `{name}` for the CUDA of your torch: `python -m torchmedic env` tells it"
            ),
            Remedy(title="or reinstall torch with its own CUDA libraries: `pip install --force-reinstall torch`"),
        )
    system, other = next((v for stem, v in _SYSTEM.items() if library.startswith(stem)), ("", ""))
    cures = []
    if other and (not package or package == "cv2"):
        cures.append(Remedy(title=f"install the build without a screen: `pip install {other}`"))
    if system:
        cures.append(
            Remedy(
                title=f"or install the library: `apt-get install {system}`"
                if cures
                else f"install it: `apt-get install {system}`"
            )
        )
    return tuple(cures) or (Remedy(title=f"find its package: `apt-file search {library}`, then install that"),)
