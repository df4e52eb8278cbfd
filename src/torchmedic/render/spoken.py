"""What a verdict says, in the language of its reader; codes, places and code stay as they are."""

from __future__ import annotations

from dataclasses import replace

from torchmedic.findings import Diagnosis, Remedy, Verdict
from torchmedic.translation import chosen, said


def spoken(verdict: Verdict) -> Verdict:
    """The verdict in the language spoken."""
    return replace(verdict, diagnoses=tuple(map(spoken_diagnosis, verdict.diagnoses))) if chosen() else verdict


def spoken_diagnosis(diagnosis: Diagnosis) -> Diagnosis:
    if not chosen():
        return diagnosis
    return replace(
        diagnosis,
        headline=said(diagnosis.headline),
        label=said(diagnosis.label),
        also=tuple(replace(also, why=said(also.why)) for also in diagnosis.also),
        evidence=tuple(map(said, diagnosis.evidence)),
        ruled_out=tuple(replace(one, suspect=said(one.suspect), how=said(one.how)) for one in diagnosis.ruled_out),
        remedies=tuple(map(_spoken_remedy, diagnosis.remedies)),
    )


def _spoken_remedy(remedy: Remedy) -> Remedy:
    return replace(remedy, title=said(remedy.title), detail=said(remedy.detail))
