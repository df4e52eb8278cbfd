"""A download or a look-up that fails because no network is reached."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Network, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, RuledOut, Symptom
from torchmedic.rules.environment._crashes import first_line, user_line
from torchmedic.rules.environment._outside import host_of, network_crash

_FOUND = {
    "no-names": "no host name resolves, not even `{asked}`",
    "refused": "a plain request to `{asked}` was refused",
    "timeout": "a plain request to `{asked}` got no answer within 3 s",
    "open": "`{asked}` answers, so the network is there and `{host}` alone is not reached",
}


class UnreachableNetwork(Rule):
    """The script asked another machine for something, and nothing outside answers."""

    code = "ENV007"
    name = "unreachable-network"
    symptoms = (Symptom.CRASH, Symptom.SLOW_START, Symptom.IMPORT_FAILS)
    tell_apart = "a second, plain request fails too; a missing package or a wrong file name gives 404, not this"
    needs = (Crash,)
    folds = ("ERR",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = network_crash(run)
        network = run.first(Network)
        if crash is None or (network is not None and network.state == "login-page"):
            return
        host = host_of(run) or (network.wanted_host if network else "")
        target = f"`{host}`" if host else "another machine"
        known = network is not None and network.state != "open"
        yield self.diagnose(
            headline=f"{target} was not reached" + (": this machine has no way out" if known else ""),
            confidence="proven",
            where=user_line(run, crash),
            label="asks the network",
            culprit=Culprit(phase="setup", module=host or None),
            evidence=_evidence(crash, network, host),
            ruled_out=(RuledOut(suspect="a missing package or file", how="no server was reached to say so"),),
            remedies=_cures(network),
        )


def _evidence(crash: Crash, network: Network | None, host: str) -> tuple[str, ...]:
    found = [first_line(f"{crash.type_name}: {crash.message}")]
    if network is not None:
        through = f" (through the proxy {network.proxy})" if network.proxy else ""
        found.append(_FOUND[network.state].format(asked=network.asked, host=host or "the host asked") + through)
        if network.state == "open" and network.wanted_host_resolves is False:
            found.append(f"the name `{host}` does not resolve")
    return tuple(found)


def _cures(network: Network | None) -> tuple[Remedy, ...]:
    local = Remedy(
        title="or work from local files: download them where there is a network, pass their path, "
        "and set `HF_HUB_OFFLINE=1` so that no look-up is tried"
    )
    if network is not None and network.proxy:
        return (
            Remedy(title=f"check the proxy {network.proxy} in `HTTP_PROXY` and `HTTPS_PROXY`, or unset them"),
            local,
        )
    if network is not None and network.state == "open":
        return (Remedy(title="check the address for a typing error, and whether a firewall blocks this host"), local)
    return (Remedy(title="bring the network up (cable, VPN, gateway login, `HTTPS_PROXY`)"), local)
