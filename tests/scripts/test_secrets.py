"""What is secret stays with the script: not in the run file, not in a report, not on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scripts.twice import MEDIC, Ended, ended, start

SECRETS = {
    "environment": "Zq7-env-value-4411",
    "option": "Zq7-option-value-5522",
    "equals": "Zq7-equals-value-6633",
    "url": "Zq7-url-value-7744",
    "query": "Zq7-query-value-8855",
    "local": "Zq7-local-value-9966",
    "source": "Zq7-source-value-1077",
    "dictionary": "Zq7-dict-value-2188",
    "message": "Zq7-message-value-3299",
    "attribute": "Zq7-attribute-value-4300",
    "shape": "hf_Zq7AbCdEfGhIjKlMnOpQrStUv",
    "bearer": "Zq7bearervalue5411",
}

SCRIPT = f"""
import os, sys
import torch


class Client:
    def __init__(self):
        self.api_key = "".join(["Zq7-attribute", "-value-4300"])
        self.name = "lab"


def connect(url, settings, client):
    password = "".join(["Zq7-local", "-value-9966"])
    auth_token = "{SECRETS["source"]}"
    header = "Authorization: Bearer {SECRETS["bearer"]}"
    found = "{SECRETS["shape"]}"
    net = torch.nn.Linear(3, 2)
    secret = "{SECRETS["source"]}"; net(torch.zeros(4, 5))


settings = {{"user": "ann", "password": "".join(["Zq7-dict", "-value-2188"]), "lr": 0.1}}
try:
    connect("https://ann:{SECRETS["url"]}@host/x?token={SECRETS["query"]}", settings, Client())
except RuntimeError as error:
    value = os.environ["DB_PASSWORD"]
    raise ValueError("login failed for https://ann:{SECRETS["message"]}@host with " + value) from error
"""


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "train.py").write_text(SCRIPT)
    options = ["--json", "verdict.json", "--sarif", "verdict.sarif"]
    command = ["train.py", "--password", SECRETS["option"], f"--api-key={SECRETS['equals']}"]
    command.append(f"https://ann:{SECRETS['url']}@host/")
    return folder, ended(start((*MEDIC, *options), command, folder, {"DB_PASSWORD": SECRETS["environment"]}))


def leaks(data: bytes) -> set[str]:
    """The planted secrets that a text holds."""
    return {name for name, value in SECRETS.items() if value.encode() in data}


def test_the_run_folder_holds_no_secret(crashed: tuple[Path, Ended]) -> None:
    folder, _ = crashed
    files = [path for path in (folder / ".torchmedic").rglob("*") if path.is_file()]
    assert any(path.suffix == ".db" and path.stat().st_size > 4096 for path in files)
    assert {path.name: leaks(path.read_bytes()) for path in files if leaks(path.read_bytes())} == {}


def test_the_reports_hold_no_secret(crashed: tuple[Path, Ended]) -> None:
    folder, _ = crashed
    for name in ("verdict.json", "verdict.sarif"):
        assert leaks((folder / name).read_bytes()) == set()


def test_the_screen_shows_only_the_scripts_own_traceback(crashed: tuple[Path, Ended]) -> None:
    _, watched = crashed
    assert watched.status == 1
    end_of_traceback = watched.stderr.index(b"\n", watched.stderr.rindex(b"ValueError: login failed for https://ann:"))
    ours = watched.stderr[end_of_traceback:]
    assert ours.strip()
    assert leaks(ours) == set()


def test_the_law_on_secrets_can_be_broken() -> None:
    assert leaks(b"x Zq7-env-value-4411 y") == {"environment"}
