"""A gateway that answers every request with its login page."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Network, PageInFile, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, RuledOut, Symptom
from torchmedic.rules.environment._crashes import first_line, user_line
from torchmedic.rules.environment._outside import network_crash


class LoginPage(Rule):
    """What came back is a web page of the gateway, not what was asked for."""

    code = "ENV008"
    name = "login-page"
    symptoms = (Symptom.CRASH, Symptom.IMPORT_FAILS)
    tell_apart = "a plain request is answered by another host or by a page, or the downloaded file begins with `<html`"
    needs = (Crash,)
    folds = ("ERR",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        network = run.first(Network)
        page = run.first(PageInFile)
        gateway = network is not None and network.state == "login-page"
        if page is None and not (gateway and network_crash(run) is not None):
            return
        yield self.diagnose(
            headline=_headline(page, gateway),
            confidence="proven" if gateway else "likely",
            where=user_line(run),
            label="reads it" if page else "asks the network",
            culprit=Culprit(phase="setup", field=page.file if page else None),
            evidence=tuple(_evidence(run, page, network if gateway else None)),
            ruled_out=(RuledOut(suspect="a missing package or a broken library", how="the answer is a web page"),),
            remedies=_cures(page, gateway),
        )


def _headline(page: PageInFile | None, gateway: bool) -> str:
    if page is None:
        return "the network answers with a login page instead of what was asked for"
    title = f" titled `{page.title}`" if page.title else ""
    return f"`{page.file}` is a web page{title}, not data"


def _evidence(run: Run, page: PageInFile | None, network: Network | None) -> Iterator[str]:
    crash = run.first(Crash)
    if crash is not None:
        yield first_line(f"{crash.type_name}: {crash.message}")
    if page is not None:
        yield f"the file holds {page.size} bytes of HTML"
    if network is not None:
        by = f" (`{network.answered_by}`)" if network.answered_by else ""
        yield f"a plain request to `{network.asked}` is answered by a gateway{by}"


def _cures(page: PageInFile | None, gateway: bool) -> tuple[Remedy, ...]:
    again = f"delete `{page.file}` and download it again" if page else "run the script again"
    if gateway:
        return (Remedy(title=f"log in to the network in a browser, then {again}"),)
    return (Remedy(title=f"{again}; the address may want a login, or a gateway stood in between"),)
