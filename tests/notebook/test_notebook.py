"""A real kernel runs real notebooks: the magic, the extension, `watch`, and what they show."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

SET_UP = """
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.rand(64, 4), torch.rand(64, 1)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
"""
HEALTHY = """%%medic
for epoch in range(4):
    loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"done"
"""
SICK = """%%medic
for epoch in range(4):
    loss = torch.log((model(x) - y).clamp(max=0) * 0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
AFTER = "print(all(bool(p.isfinite().all()) for p in model.parameters()))"
BROKEN = "model(torch.rand(64, 5))"
BROKEN_WATCHED = "%%medic\n\nmodel(torch.rand(64, 5))"
WATCHED = """\
import torchmedic
with torchmedic.watch() as medic:
    for epoch in range(3):
        loss = torch.log((model(x) - y).clamp(max=0) * 0).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(medic.verdict.diagnoses[0].where)
"""
BAD_DATA = """%%medic --on-sick skip
x2 = x.clone()
x2[7, 1] = float("nan")
for i in range(0, 64, 16):
    loss = ((model(x2[i : i + 16]) - y[i : i + 16]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LEFT_ON = "left_on = torchmedic.watch()"
STOPPED = "left_on.stop().info.steps"
WRONG_OPTIONS = {
    "wrong_value": "%%medic --on-sick explode\n1",
    "wrong_name": "%%medic --loud\n1",
    "wrong_quotes": "%%medic --lang 'zh\n1",
}
UNLOADED = "%unload_ext torchmedic"


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The outputs of each cell of one notebook, by name."""
    texts = {
        "load": "%load_ext torchmedic",
        "set_up": SET_UP,
        "healthy": HEALTHY,
        "broken": BROKEN,
        "broken_watched": BROKEN_WATCHED,
        "sick": SICK,
        "after": AFTER,
        "watched": WATCHED,
        "bad_data": BAD_DATA,
        "left_on": LEFT_ON,
        "healthy_again": HEALTHY,
        "stopped": STOPPED,
        **WRONG_OPTIONS,
        "quiet": HEALTHY.replace("%%medic", "%%medic -q"),
        "quiet_but_sick": SICK.replace("%%medic", "%%medic --quiet"),
        "chinese": SICK.replace("%%medic", "%%medic --lang zh"),
        "english_again": HEALTHY,
        "unloaded": UNLOADED,
        "broken_again": BROKEN,
    }
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in texts.values()])
    folder = tmp_path_factory.mktemp("notebook")
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True, resources=resources).execute()
    nbformat.write(notebook, folder / "executed.ipynb")
    return {name: cell.outputs for name, cell in zip(texts, notebook.cells, strict=True)}


def html(outputs: Any) -> str:
    return "".join(out["data"].get("text/html", "") for out in outputs if out["output_type"] == "display_data")


def text(outputs: Any) -> str:
    return "".join(out["data"].get("text/plain", "") for out in outputs if "data" in out)


def printed(outputs: Any) -> str:
    return "".join(out["text"] for out in outputs if out["output_type"] == "stream")


def errors(outputs: Any) -> list[str]:
    return [out["ename"] for out in outputs if out["output_type"] == "error"]


def test_a_healthy_cell_gets_one_line_and_keeps_its_value(cells: dict[str, Any]) -> None:
    assert errors(cells["healthy"]) == []
    assert "healthy, 4 optimizer steps watched" in html(cells["healthy"])
    assert "'done'" in text(cells["healthy"])


def test_a_sick_cell_is_stopped_and_its_line_named(cells: dict[str, Any]) -> None:
    shown = html(cells["sick"])
    assert errors(cells["sick"]) == []
    assert "error NUM002" in shown
    assert "Cell In[6]:3" in shown, "the line as the notebook counts it"
    assert "<mark>torch.log(" in shown
    assert 'class="chain"' in shown
    assert "error[NUM002]" in text(cells["sick"]), "for a notebook without HTML"
    assert "\x1b" not in text(cells["sick"]), "a kernel asks for colours by FORCE_COLOR"
    assert (
        "stopped the run in its first step, before any update; <code>--on-sick continue</code> lets it go on" in shown
    )
    assert printed(cells["after"]).strip() == "True", "the weights of the last good step"


def test_an_error_of_a_plain_cell_is_explained_below_it(cells: dict[str, Any]) -> None:
    assert errors(cells["broken"]) == ["RuntimeError"]
    assert "Cell In[4]:1" in html(cells["broken"])
    assert "error ERR" in html(cells["broken"])


def test_an_error_of_a_watched_cell_is_explained_once(cells: dict[str, Any]) -> None:
    assert errors(cells["broken_watched"]) == ["RuntimeError"]
    assert html(cells["broken_watched"]).count('<article class="card') == 1
    assert "Cell In[5]:3" in html(cells["broken_watched"])


def test_watch_in_a_cell_names_the_line(cells: dict[str, Any]) -> None:
    assert errors(cells["watched"]) == []
    assert "Cell In[8]:4" in printed(cells["watched"])
    assert "error NUM002" in html(cells["watched"])


def test_a_variable_has_the_name_that_the_user_gave_it(cells: dict[str, Any]) -> None:
    assert "`x2` holds values that are NaN at step 1" in text(cells["bad_data"])


def test_a_sick_batch_is_said_to_be_dropped_where_the_optimizer_was_built_before(cells: dict[str, Any]) -> None:
    assert "the update was not applied" in text(cells["bad_data"])


def test_a_cell_says_that_an_earlier_watch_is_still_on(cells: dict[str, Any]) -> None:
    assert "a watch is running already" in printed(cells["healthy_again"])
    assert "'done'" in text(cells["healthy_again"])
    assert text(cells["stopped"]).endswith("4")


@pytest.mark.parametrize(
    ("name", "told"),
    [("wrong_value", "invalid choice: 'explode'"), ("wrong_name", "--loud"), ("wrong_quotes", "No closing quotation")],
)
def test_a_wrong_option_is_one_clear_complaint(cells: dict[str, Any], name: str, told: str) -> None:
    assert errors(cells[name]) == []
    assert text(cells[name]) == "", "the cell is not run"
    assert told in printed(cells[name])
    assert printed(cells[name]).endswith("; %%medic [--on-sick stop|skip|continue] [--lang en|zh] [-q|--quiet]\n")
    assert printed(cells[name]).count("\n") == 1


def test_quiet_is_about_healthy_cells_only(cells: dict[str, Any]) -> None:
    assert html(cells["quiet"]) == ""
    assert "'done'" in text(cells["quiet"])
    assert "error NUM002" in html(cells["quiet_but_sick"])


def test_a_cell_may_ask_for_its_language(cells: dict[str, Any]) -> None:
    assert "错误 NUM002" in html(cells["chinese"])
    assert "错误[NUM002]" in text(cells["chinese"])
    assert "healthy, 4 optimizer steps watched" in html(cells["english_again"])


def test_unloaded_it_is_silent(cells: dict[str, Any]) -> None:
    assert errors(cells["broken_again"]) == ["RuntimeError"]
    assert html(cells["broken_again"]) == ""
