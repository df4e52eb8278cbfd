"""`torchmedic env` and what it looks at."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from tests.cli.test_report import schema
from tests.cli.typed import typed
from torchmedic.checkups.environment import cards, network
from torchmedic.checkups.environment.network import look_outside, proxy_host
from torchmedic.checkups.environment.survey import torch_build


class Gateway(http.server.BaseHTTPRequestHandler):
    """Answers as the test says."""

    status = 200
    headers_sent: dict[str, str] = {}
    body = b""

    def do_GET(self) -> None:
        self.send_response(type(self).status)
        for name, value in type(self).headers_sent.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(type(self).body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Gateway]]:
    """A proxy on loopback through which every plain request goes."""
    kind = type("Answer", (Gateway,), {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", f"http://lab:Tr0ub4dor@127.0.0.1:{server.server_port}")
    yield kind
    server.shutdown()
    server.server_close()


def test_env_without_a_network_look(tmp_path: Path) -> None:
    answer = typed("env", "--no-network", "--json", str(tmp_path / "env.json"))
    assert answer.status in (0, 1)
    verdict = json.loads((tmp_path / "env.json").read_text())
    jsonschema.validate(verdict, schema())
    assert verdict["environment"]["torch"].startswith(verdict["run"]["torch"])
    assert verdict["environment"]["network"] is None
    assert answer.out.startswith("python ")


def test_a_login_page_is_recognised(gateway: type[Gateway]) -> None:
    gateway.body = b"<html><title>Campus login</title></html>"
    seen = look_outside()
    assert (seen.state, seen.answered_by) == ("login-page", "Campus login")


@pytest.mark.parametrize(
    ("status", "target", "state"),
    [
        (302, "http://login.campus.example/?from=x", "login-page"),
        (511, "", "login-page"),
        (301, f"https://{network.ASKED}/", "open"),
        (403, "", "open"),
        (407, "", "refused"),
    ],
)
def test_answers_are_judged(gateway: type[Gateway], status: int, target: str, state: str) -> None:
    gateway.status = status
    gateway.headers_sent = {"Location": target} if target else {}
    assert look_outside().state == state


def test_the_login_of_a_proxy_is_never_kept(gateway: type[Gateway]) -> None:
    seen = look_outside()
    assert seen.proxy.startswith("127.0.0.1:")
    assert "Tr0ub4dor" not in repr(seen)
    answer = typed("env")
    assert "Tr0ub4dor" not in answer.out + answer.err


def test_a_dead_proxy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HTTP_PROXY", raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert look_outside(seconds=1).state == "refused"


@pytest.mark.parametrize(
    ("address", "host"),
    [("http://a:b@p.example:3128", "p.example:3128"), ("p.example:80", "p.example:80"), ("http://p:99999999", "p")],
)
def test_proxies_as_people_write_them(monkeypatch: pytest.MonkeyPatch, address: str, host: str) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", address)
    assert proxy_host() == host


def test_cards_are_read_from_the_kernel_and_from_the_bus(tmp_path: Path) -> None:
    folder = tmp_path / "nvidia" / "gpus" / "0000:01:00.0"
    folder.mkdir(parents=True)
    (folder / "information").write_text("Model: \t\t NVIDIA GeForce RTX 3090\nIRQ: 1\n")
    (tmp_path / "nvidia" / "version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat\n")
    found = cards._from_kernel(tmp_path / "nvidia")
    assert found == cards.Cards(names=("NVIDIA GeForce RTX 3090",), driver="535.104.05")
    device = tmp_path / "pci" / "0000:01:00.0"
    device.mkdir(parents=True)
    (device / "vendor").write_text("0x10de\n")
    (device / "class").write_text("0x030000\n")
    assert cards._from_bus(tmp_path / "pci").names == ("NVIDIA card at PCI 0000:01:00.0",)
    (device / "class").write_text("0x040300\n")
    assert cards._from_bus(tmp_path / "pci").names == ()


def test_torch_is_surveyed_without_importing_it() -> None:
    import torch

    version, cuda, _ = torch_build()
    assert version == torch.__version__
    assert (cuda or None) == torch.version.cuda
