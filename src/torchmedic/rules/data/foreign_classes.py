"""A saved file that asks for classes which may run any code when it is opened."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FileTrouble, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, places


class ForeignClasses(DataRule):
    """The file was not opened; the names were read without running anything."""

    code = "DAT138"
    name = "foreign-classes"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`torch.load` with `weights_only=True` refuses the file, because it holds more than tensors"
    needs = (FileTrouble,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, FileTrouble):
            for seen in place.seen:
                if seen.trouble == "foreign-classes":
                    yield self.report(
                        place,
                        (
                            f"`{seen.source}` was not opened: it holds more than tensors",
                            "a file was not opened: it holds more than tensors",
                        ),
                        evidence=[
                            f"it asks for: {seen.detail.replace('`', '')}",
                            "opening a pickle runs whatever code it names",
                        ],
                        help=(
                            "open it with `--trust` only if you know who made it",
                            "save tensors alone: `torch.save(model.state_dict(), path)`, or safetensors",
                        ),
                        field=seen.source,
                    )
