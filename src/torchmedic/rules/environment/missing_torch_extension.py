"""A compiled companion of torch that is not installed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import import_line, links, missing_module, user_line
from torchmedic.rules.environment._packages import TORCH_EXTENSIONS, install_line, pip_name, placeholders, torch_of

_NEEDS = re.compile(r"'?([\w.]+)'? requires (?:either )?((?:'[\w-]+'(?:,? or |, and |, | and )?)+)")


class MissingTorchExtension(Rule):
    """torch-scatter, pyg-lib, torchvision and the like are looked for and are not there."""

    code = "ENV004"
    name = "missing-torch-extension"
    symptoms = (Symptom.IMPORT_FAILS, Symptom.CRASH)
    tell_apart = "the missing package is one that must be built for the installed torch"
    needs = (Crash,)
    folds = ("ERR",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for crash in links(run):
            wanted, user = _wanted(crash)
            if wanted:
                yield self._missing(run, wanted, user)
                return

    def _missing(self, run: Run, wanted: list[str], user: str) -> Diagnosis:
        names = " or ".join(f"`{pip_name(name)}`" for name in wanted)
        version, build = torch_of(run)
        by = f"`{user}` needs {names}, which is not installed" if user else f"{names} is not installed"
        fit = f"wheels must fit this torch ({version}, {build}) and this Python" if version and build else ""
        line = install_line(wanted[0], run)
        cures = [Remedy(title=f"install the build for this torch: `{line}`", detail=placeholders(line))]
        if TORCH_EXTENSIONS[wanted[0]] and not user:
            cures.append(Remedy(title="or leave the import out: it is optional", detail=TORCH_EXTENSIONS[wanted[0]]))
        elif user:
            cures.append(Remedy(title=f"or do without `{user}`: {_without(user)}"))
        where = user_line(run) if user else import_line(run, wanted[0])
        return self.diagnose(
            headline=by,
            confidence="proven",
            where=where,
            label=f"needs {names}" if user else f"`{wanted[0]}` is looked for here",
            culprit=Culprit(phase="setup", module=wanted[0]),
            evidence=(fit,) if fit else (),
            remedies=tuple(cures),
        )


def _wanted(crash: Crash) -> tuple[list[str], str]:
    """The extensions that are missing, and the class that asked for them."""
    module = missing_module(crash).partition(".")[0]
    if module in TORCH_EXTENSIONS:
        return [module], ""
    if crash.type_name != "ImportError":
        return [], ""
    match = _NEEDS.search(crash.message)
    if match is None:
        return [], ""
    names = [name.replace("-", "_") for name in re.findall(r"'([\w-]+)'", match.group(2))]
    return [name for name in names if name in TORCH_EXTENSIONS], match.group(1).rpartition(".")[2]


def _without(user: str) -> str:
    if "Neighbor" in user or "Sampler" in user:
        return "where the whole graph fits in memory, pass it to the model as it is, without sampling"
    return "the rest of PyTorch Geometric works without the package"
