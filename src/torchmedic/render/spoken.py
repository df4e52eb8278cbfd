"""What a verdict says, in the language of its reader; codes, places and code stay as they are."""

from __future__ import annotations

import re
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


_EXCEPTION = re.compile(r"(?P<rank>rank \d+: )?(?P<own>[A-Za-z_][\w.]*(?:: .*)?)", re.DOTALL)


def spoken_exception(line: str) -> str:
    """What is not explained: the class and the words of an exception are its own, in whatever language.

    >>> spoken_exception("cv2.error: color.cpp:182: error: (-215) in function")
    'cv2.error: color.cpp:182: error: (-215) in function'
    """
    found = _EXCEPTION.fullmatch(line)
    if found is None:
        return said(line)
    return said(f"{found['rank']}`…`").replace("`…`", found["own"]) if found["rank"] else line
