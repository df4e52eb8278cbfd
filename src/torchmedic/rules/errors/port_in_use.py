"""A server that cannot listen: the port it was given belongs to another process."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code

_TAKEN = r"EADDRINUSE|Address already in use"
_PORT = re.compile(r"port:? (\d+)")
_RANKS = r"server socket has failed|TCPStore|MASTER_PORT"
_SETTING = "MASTER_PORT"


class PortInUse(Rule):
    """Two servers cannot listen on one port: mostly the earlier run has not ended."""

    code = "ERR283"
    name = "port-in-use"
    symptoms = (Symptom.CRASH,)
    tell_apart = "EADDRINUSE, `Address already in use`: the port that ranks or a server want is taken"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None or said(crash, _TAKEN) is None:
            return
        told = _PORT.search(crash.message)
        port = told[1] if told is not None else ""
        line = user_line(crash)
        chosen = _chosen(Code.of(run), port)
        meeting = said(crash, _RANKS) is not None
        yield self.diagnose(
            headline=f"{f'port {port}' if port else 'the port'} is taken: another process listens on it",
            confidence="proven",
            where=chosen or line,
            label="chosen here" if chosen is not None else "",
            also=also((line, "asked for here"), but=chosen or line),
            evidence=("the ranks of a training meet at this port, and rank 0 has to listen on it",) if meeting else (),
            remedies=tuple(_remedies(port, meeting)),
        )


def _chosen(code: Code, port: str) -> Location | None:
    """The line that writes the port down, else the one that sets it for all ranks."""
    constants = [
        (code.place(file, node), node.value)
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
    ]
    written = re.compile(rf"\b{port}\b") if port else None
    found = [place for place, value in constants if written is not None and written.search(str(value))]
    return next(iter(found or [place for place, value in constants if value == _SETTING]), None)


def _remedies(port: str, meeting: bool) -> Iterator[Remedy]:
    yield Remedy(title=f"end the earlier run that still listens: `ss -ltnp | grep :{port or 'PORT'}` names it")
    if meeting:
        yield Remedy(title="or let `torchrun --standalone` choose a free port; two trainings need two ports")
    else:
        yield Remedy(title="or choose another port, or 0 for any that is free")
