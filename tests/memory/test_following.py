"""What is followed on the pretended card: categories, true values, frameworks' habits, and scripts that get lost."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.memory.running import plan_of_ours, plan_of_text
from torchmedic.checkups.memory.asking import Request
from torchmedic.facts import MemoryPlan

_TRAINING = """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 8)){moved}
optimizer = torch.optim.Adam(model.parameters())
{between}
for step in range(4):
    x = {batch}
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {after}
"""


def _training(
    tmp_path: Path,
    *,
    moved: str = ".cuda()",
    between: str = "",
    batch: str = "torch.randn(64, 256, device='cuda')",
    after: str = "pass",
    request: Request | None = None,
    broken: bool = False,
) -> MemoryPlan:
    text = _TRAINING.format(moved=moved, between=between, batch=batch, after=after)
    return plan_of_text(text, tmp_path, request=request, broken=broken)


_WEIGHTS = 4 * (256 * 512 + 512 + 512 * 8 + 8)


def test_parameters_gradients_and_state_are_told_apart(tmp_path: Path) -> None:
    plan = _training(tmp_path)
    assert plan.lost is None
    assert plan.mode == "fake-cuda"
    for category, times in (("parameters", 1), ("gradients", 1), ("optimizer state", 2)):
        assert plan.by_category[category] == pytest.approx(times * _WEIGHTS, rel=0.02)
    assert sum(plan.by_category.values()) == plan.peak_allocated
    assert sum(share.bytes for share in plan.by_line) == plan.peak_allocated
    assert plan.phase == "optimizer"
    assert plan.assumed == ()


def test_an_optimizer_built_before_the_move_still_holds_the_parameters(tmp_path: Path) -> None:
    late = _training(tmp_path, moved="", between="model.to('cuda')")
    assert late.by_category == _training(tmp_path).by_category


def test_a_script_that_uses_no_card_is_counted_on_the_cpu(tmp_path: Path) -> None:
    batch = "torch.randn(64, 256)"
    assert _training(tmp_path, moved="", batch=batch).peak_allocated == 0
    plan = _training(tmp_path, moved="", batch=batch, request=Request(device="cpu"))
    assert plan.mode == "fake-cpu"
    assert plan.by_category["parameters"] == pytest.approx(_WEIGHTS, rel=0.02)


def test_numbers_of_the_model_that_are_read_are_assumed_with_their_line(tmp_path: Path) -> None:
    plan = _training(tmp_path, after="print(f'{loss.item():.3f}', loss.detach().cpu().numpy())")
    assert plan.lost is None
    lines = {one.where.line for one in plan.assumed if one.where is not None}
    assert lines == {14}


def test_checks_for_finite_numbers_pass(tmp_path: Path) -> None:
    after = "assert torch.isfinite(loss) and not torch.isnan(loss).any() and not loss.isinf()"
    plan = _training(tmp_path, after=after)
    assert plan.lost is None
    assert plan.assumed == ()


def test_a_checkpoint_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "best.pt").write_text("precious")
    plan = _training(tmp_path, after="torch.save(model.state_dict(), 'best.pt')")
    assert (tmp_path / "best.pt").read_text() == "precious"
    assert plan.not_written == ("best.pt",)


def test_where_the_script_was_lost_is_said_with_the_partial_answer(tmp_path: Path) -> None:
    plan = _training(tmp_path, after="x[:, 300] if step == 0 else None")
    assert plan.lost is not None
    assert plan.lost.where is not None
    assert (plan.lost.where.file, plan.lost.where.line) == ("script.py", 14)
    assert plan.steps == 1
    assert plan.peak_allocated > 4 * _WEIGHTS


def test_a_failed_self_test_voids_the_answer(tmp_path: Path) -> None:
    plan = _training(tmp_path, broken=True)
    assert plan.steps == 0
    assert plan.lost is not None
    assert "self-test" in plan.lost.error


def test_shapes_that_depend_on_data_are_true(tmp_path: Path) -> None:
    text = """
        import torch
        edges = torch.randint(0, 50, (2, 4000)).cuda()
        layer = torch.nn.Linear(16, 16).cuda()
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(2):
            nodes = edges.unique()
            assert len(nodes) == 50 and int(edges.max()) == 49
            kept = edges[:, edges[0] < 10]
            assert 0 < kept.shape[1] < 1600
            repeated = torch.arange(3).cuda().repeat_interleave(torch.tensor([1, 2, 3]).cuda())
            assert repeated.tolist() == [0, 1, 1, 2, 2, 2]
            assert (edges[0] >= 0).nonzero().shape == (4000, 1)
            x = torch.randn(50, 16, device="cuda")[kept[0]]
            layer(x).sum().backward()
            optimizer.step()
    """
    plan = plan_of_text(textwrap.dedent(text), tmp_path)
    assert plan.lost is None
    assert plan.assumed == ()


def test_a_mask_that_the_model_computes_is_taken_to_select_everything(tmp_path: Path) -> None:
    after = "hard = model(x)[model(x) > 0]; assert hard.shape == (512,)"
    plan = _training(tmp_path, after=after)
    assert plan.lost is None
    assert any("mask" in one.what for one in plan.assumed)


def test_loaders_with_workers_and_pinned_memory_are_followed(tmp_path: Path) -> None:
    between = (
        "data = torch.utils.data.TensorDataset(torch.randn(512, 256))\n"
        "loader = torch.utils.data.DataLoader(data, batch_size=32, num_workers=4, pin_memory=True, timeout=5)\n"
        "batches = iter([b for _ in range(2) for b in loader])"
    )
    batch = "next(batches)[0].to('cuda', non_blocking=True)"
    small = _training(tmp_path, between=between, batch=batch)
    assert (small.lost, small.loader_batch) == (None, 32)
    large = _training(tmp_path, between=between, batch=batch, request=Request(loader_batch=128))
    assert large.phase_peaks["forward"] > small.phase_peaks["forward"]


def test_data_that_are_too_few_for_a_larger_batch_are_gone_over_again(tmp_path: Path) -> None:
    between = (
        "data = torch.utils.data.TensorDataset(torch.randn(50, 256))\n"
        "loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True, drop_last=True)\n"
        "batches = iter([b for _ in range(2) for b in loader])"
    )
    batch = "next(batches)[0].cuda(); assert len(x) in (16, 400)"
    plan = _training(tmp_path, between=between, batch=batch, request=Request(loader_batch=400, plenty=True))
    assert (plan.lost, plan.steps) == (None, 2)


@pytest.mark.parametrize("script", ["unet.py", "vit.py", "sparse.py", "gpt_checkpointed.py"])
def test_scripts_of_many_kinds_are_followed_to_the_end(script: str) -> None:
    plan = plan_of_ours(script)
    assert plan.lost is None
    assert plan.steps >= 2
    assert plan.by_category["optimizer state"] > 0


def test_an_lstm_on_packed_sequences_keeps_its_reserve() -> None:
    plan = plan_of_ours("lstm.py")
    assert plan.lost is None
    reserve = next(big for big in plan.largest if big.module == "lstm")
    # Two layers, both directions: five values of each unit and the outputs between, for 20 to 100 positions a sample.
    assert reserve.shape[0] == pytest.approx(64 * 60 * 256 * 2 * 11 * 4, rel=0.2)


@pytest.mark.parametrize(("remedy", "helps"), [("bf16", True), ("checkpointing", True), ("fused", False)])
def test_remedies_are_put_into_effect(remedy: str, helps: bool, tmp_path: Path) -> None:
    text = """
        import torch
        from torch import nn
        blocks = [nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)) for _ in range(4)]
        model = nn.Sequential(*blocks).cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(2):
            model(torch.randn(4096, 128, device="cuda")).pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    """
    script = textwrap.dedent(text)
    before = plan_of_text(script, tmp_path).peak_allocated
    after = plan_of_text(script, tmp_path, request=Request(remedy=remedy)).peak_allocated
    assert (after < 0.8 * before) == helps
    assert after <= 1.001 * before


def test_a_loop_that_waits_for_numbers_is_given_up(tmp_path: Path) -> None:
    text = """
        import torch
        layer = torch.nn.Linear(64, 64).cuda()
        state = torch.randn(8, 64).cuda()
        while (state - layer(state)).abs().max() > 1e-3:
            state = layer(state).detach()
    """
    plan = plan_of_text(textwrap.dedent(text), tmp_path, request=Request(patience=3))
    assert plan.lost is not None
    assert "no optimizer step" in plan.lost.error
    assert plan.lost.where is not None
    assert plan.lost.where.line in (5, 6)
    assert plan.peak_allocated > 0


def test_the_table_of_the_ctc_loss_is_kept(tmp_path: Path) -> None:
    text = """
        import torch
        layer = torch.nn.Linear(16, 30).cuda()
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        texts = torch.randint(1, 30, (8, 40)).cuda()
        for _ in range(2):
            logits = layer(torch.randn(200, 8, 16, device="cuda")).log_softmax(-1)
            lengths = torch.full((8,), 200), torch.tensor([40, 30, 20, 10, 40, 30, 20, 10])
            torch.nn.functional.ctc_loss(logits, texts, *lengths, zero_infinity=True).backward()
            optimizer.step()
    """
    plan = plan_of_text(textwrap.dedent(text), tmp_path)
    assert plan.lost is None
    assert any(big.shape == (8, 200, 2 * 40 + 1) for big in plan.largest)


_GRAPH = """
import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--nodes", type=int, default=3000)
parser.add_argument("--epochs", type=int, default=3)
nodes = parser.parse_args().nodes
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(48, 96), torch.nn.Linear(96, 1)
    def forward(self, x, edges):
        h = self.first(x).relu()
        h = h.index_add(0, edges[1], h[edges[0]])
        weights = (h @ h.T).softmax(-1)
        return self.last(weights @ h).squeeze(-1)
x, y = torch.randn(nodes, 48).cuda(), torch.rand(nodes).cuda()
edges = torch.randint(0, nodes, (2, 20 * nodes)).cuda()
labelled = (torch.arange(nodes) < nodes // 30).cuda()
model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    loss = (model(x, edges)[labelled] - y[labelled]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_what_grows_with_nodes_and_edges_is_read_off_the_shapes(tmp_path: Path) -> None:
    plan = plan_of_text(_GRAPH, tmp_path)
    assert plan.flags == {"--nodes": 3000, "--epochs": 3}
    sizes = {dimension.name: dimension.size for dimension in plan.dimensions}
    assert sizes == {"nodes": 3000, "edges": 60000, "selected nodes": 100}
    shares = {term.dimensions: term.bytes / plan.peak_allocated for term in plan.terms}
    assert shares[("nodes", "nodes")] > 0.4
    assert sum(shares.values()) == pytest.approx(1)
    assert sum(share for names, share in shares.items() if "selected nodes" in names) < 0.01


def test_a_graph_in_parts_takes_less(tmp_path: Path) -> None:
    whole = plan_of_text(_GRAPH, tmp_path)
    parts = plan_of_text(_GRAPH, tmp_path, request=Request(remedy="node-batches"))
    assert parts.lost is None
    assert parts.peak_allocated < 0.5 * whole.peak_allocated


def test_edges_that_a_layer_adds_are_edges(tmp_path: Path) -> None:
    text = """
        import torch
        from torch_geometric.nn import GATConv
        edges = torch.randint(0, 3000, (2, 60000))
        edges[1, :7] = edges[0, :7]
        x, edges, layer = torch.randn(3000, 48).cuda(), edges.cuda(), GATConv(48, 16, heads=4).cuda()
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(2):
            layer(x, edges).pow(2).mean().backward()
            optimizer.step()
    """
    plan = plan_of_text(textwrap.dedent(text), tmp_path)
    shares = {term.dimensions: term.bytes for term in plan.terms}
    workspace = plan.by_category["workspace"]
    # The layer takes out the edges of nodes to themselves and adds one for every node: nothing else is constant.
    assert shares[()] < workspace + 0.02 * plan.peak_allocated
    assert shares[("edges",)] > 0.5 * (plan.peak_allocated - workspace)


def test_a_closure_is_not_the_update(tmp_path: Path) -> None:
    """Lightning hands the whole step to the optimizer; its modules are called below one that never is."""
    text = """
        import torch
        from torch import nn
        class Whole(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512))
        model = Whole().cuda()
        optimizer = torch.optim.Adam(model.parameters())
        def closure():
            optimizer.zero_grad()
            loss = model.net(torch.randn(4, 512, device="cuda")).sum()
            loss.backward()
            return loss
        for _ in range(3):
            optimizer.step(closure)
    """
    plan = plan_of_text(textwrap.dedent(text), tmp_path)
    assert plan.phase == "optimizer"
    weights = 4 * (512 * 512 + 512)
    held = {share.module: share.bytes for share in plan.by_module}
    # Weights, gradients and two moments belong to the layers.
    assert held["net.0"] >= 4 * weights
    assert held["net.2"] >= 4 * weights


def test_sizes_that_no_followed_step_may_have_shown_are_said_to_be_open(tmp_path: Path) -> None:
    """Trials of kernels take what nobody knows beforehand; the largest batch may come after the last one followed."""
    growing = _training(tmp_path, batch="torch.randn(64 + 8 * step, 256, device='cuda')").assumed
    assert growing == ()  # the script ended by itself: every batch was seen
    endless = plan_of_text(
        _TRAINING.format(
            moved=".cuda()", between="", batch="torch.randn(64 + step, 256, device='cuda')", after="pass"
        ).replace("range(4)", "range(400)"),
        tmp_path,
    )
    assert [one.what for one in endless.assumed] == [
        "batches differ in size; a larger one than those followed would need more"
    ]
    image = (
        "torch.nn.functional.conv2d(torch.randn(8, 3, 16, 16, device='cuda'), torch.ones(4, 3, 3, 3, device='cuda'))"
    )
    quiet = _training(tmp_path, between=image)
    trying = _training(tmp_path, between=f"torch.backends.cudnn.benchmark = True; {image}")
    assert quiet.assumed == ()
    assert ["cudnn.benchmark" in one.what for one in trying.assumed] == [True]


def test_the_parts_of_torch_cuda_answer_as_torch_cuda_does(tmp_path: Path) -> None:
    asked = "torch.cuda.random.set_rng_state(torch.cuda.random.get_rng_state()); torch.cuda.memory.empty_cache()"
    plan = _training(tmp_path, after=asked)
    assert (plan.lost, plan.steps) == (None, 2)


def test_steps_of_many_passes_are_left_when_two_have_shown_the_peak(tmp_path: Path) -> None:
    text = _TRAINING.format(moved=".cuda()", between="", batch="torch.randn(64, 256, device='cuda')", after="pass")
    text = text.replace("range(4)", "range(40)").replace("optimizer.step()", "(step % 10 == 9) and optimizer.step()")
    text = text.replace("optimizer.zero_grad()", "(step % 10 == 0) and optimizer.zero_grad()")
    whole = plan_of_text(text, tmp_path)
    left = plan_of_text(f"import time\ntime.process_time = lambda: 1e9\n{text}", tmp_path)
    assert (whole.steps, left.steps) == (2, 1)
    assert left.phase_peaks == whole.phase_peaks


def test_a_line_of_several_functions_is_one_line(tmp_path: Path) -> None:
    after = "kept = [loss.detach() + n for n in range(3)]; more = {n: torch.ones(9, device='cuda') for n in range(2)}"
    lines = [str(share.where) for share in _training(tmp_path, after=after).by_line]
    assert len(lines) == len(set(lines))


def test_the_batch_is_that_of_training(tmp_path: Path) -> None:
    """Evaluation before the first step has batches of its own, which stay as they are."""
    between = (
        "from torch.utils.data import DataLoader, TensorDataset\n"
        "data = TensorDataset(torch.randn(2000, 256))\n"
        "train, other = DataLoader(data, batch_size=32), DataLoader(data, batch_size=100)\n"
        "with torch.no_grad(): seen = [len(model(x.cuda())) for x, in other]\n"
        "batches = iter(train)"
    )
    batch = "next(batches)[0].cuda()"
    plan = _training(tmp_path, between=between, batch=batch)
    assert (plan.lost, plan.loader_batch) == (None, 32)
    after = "assert seen[0] == 100 and len(x) == 64, (seen, len(x))"
    request = Request(loader_batch=64, loader_now=32)
    assert _training(tmp_path, between=between, batch=batch, after=after, request=request).lost is None
