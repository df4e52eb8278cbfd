"""Two different OpenMP runtimes in one process."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Environment, OpenmpRuntime, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import links

_ERROR_15 = re.compile(r"OMP: Error #15: Initializing (\S+?),? but found (\S+) already initialized")
_MAKERS = {"libiomp5": "Intel", "libomp": "LLVM", "libgomp": "GNU"}


class MixedOpenmpRuntimes(Rule):
    """Intel's and LLVM's OpenMP are both loaded: they refuse each other, or count threads wrongly."""

    code = "ENV006"
    name = "mixed-openmp-runtimes"
    severity = "warning"
    symptoms = (Symptom.DEATH, Symptom.SLOW_STEP, Symptom.NOT_REPRODUCIBLE)
    tell_apart = "`OMP: Error #15` on the screen, or `KMP_DUPLICATE_LIB_OK` is set"
    needs = ()

    def check(self, run: Run) -> Iterator[Diagnosis]:
        said = next((m for c in links(run) if (m := _ERROR_15.search(c.message))), None)
        environment = run.first(Environment)
        if said is not None:
            names = (said.group(1), said.group(2).rstrip("."))
            yield self._found([OpenmpRuntime(name=name) for name in names], allowed=False, refused=True)
        elif environment is not None and (clashing := _clash(environment.openmp)):
            yield self._found(clashing, allowed=environment.duplicate_openmp_allowed, refused=False)

    def _found(self, runtimes: list[OpenmpRuntime], allowed: bool, refused: bool) -> Diagnosis:
        listed = " and ".join(f"`{runtime.name}` ({_maker(runtime.name)})" for runtime in runtimes)
        where = next((runtime.imported for runtime in reversed(runtimes) if runtime.imported), None)
        evidence = [
            f"`{runtime.name}` comes with the package `{runtime.package}`" for runtime in runtimes if runtime.package
        ]
        evidence.append("the OpenMP runtimes of Intel and LLVM are one code base and refuse to run twice in a process")
        if allowed:
            evidence.append(
                "`KMP_DUPLICATE_LIB_OK` lets them: its own text warns of crashes and silently wrong results"
            )
        return self.diagnose(
            severity="error" if refused else "warning",
            headline=f"two OpenMP runtimes are in one process: {listed}",
            confidence="proven",
            where=where,
            label="loads the second one",
            culprit=Culprit(phase="setup", examples=tuple(runtime.name for runtime in runtimes)),
            evidence=tuple(evidence),
            remedies=(
                Remedy(title="install torch, NumPy and SciPy from one source (all with pip, or all with conda)"),
                Remedy(title="or find who brings the second one: `python -m threadpoolctl -i torch numpy sklearn`"),
            ),
        )


def _maker(name: str) -> str:
    return next((maker for stem, maker in _MAKERS.items() if name.startswith(stem)), "unknown")


def _clash(loaded: tuple[OpenmpRuntime, ...]) -> list[OpenmpRuntime]:
    """Copies of GNU's runtime live side by side; Intel's and LLVM's do not."""
    found = [next((r for r in loaded if r.name.startswith(stem)), None) for stem in ("libiomp5", "libomp")]
    return [runtime for runtime in found if runtime is not None] if all(found) else []
