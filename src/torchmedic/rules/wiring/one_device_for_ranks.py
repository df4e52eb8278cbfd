"""Several ranks of a machine compute on one card while others are free."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, RankDevice, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._calls import ranks_text

_REFUSED = "Duplicate GPU detected"


class OneDeviceForRanks(Rule):
    """Two ranks of one machine name the same card, or NCCL has refused to let them."""

    code = "WIR115"
    name = "one-device-for-ranks"
    symptoms = (Symptom.CRASH, Symptom.SLOW_STEP, Symptom.MEMORY_GROWS)
    tell_apart = "two ranks of a machine compute on the same card, of several that they see; NCCL: `Duplicate GPU`"
    needs = (RankDevice,)
    folds = ("ERR",)
    across_ranks = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        devices = {rank.info.rank: seen for rank in run.ranks if (seen := rank.first(RankDevice)) is not None}
        together = _sharing(devices)
        refused = any(_REFUSED in crash.message for crash in run.all(Crash))
        if not together and not refused:
            return
        seen = devices[together[0] if together else next(iter(devices))]
        who = ranks_text(together) if together else "two ranks"
        yield self.diagnose(
            headline=f"{who} compute on the same card{f', `{seen.device}`' if seen.device else ''}",
            confidence="proven",
            where=seen.chosen_at,
            label="the same card on every rank",
            step=seen.step,
            culprit=Culprit(op="cuda", phase="setup"),
            evidence=tuple(_evidence(seen, refused)),
            remedies=(
                Remedy(
                    title='choose by local rank: `torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))` at the start'
                ),
                Remedy(title='and name no other card: `device = torch.device("cuda", local_rank)`'),
            ),
        )


def _sharing(devices: dict[int, RankDevice]) -> list[int]:
    """The ranks of the first card that more than one uses though there are others to choose from."""
    by_card: dict[tuple[str, str], list[int]] = {}
    for rank, seen in devices.items():
        if seen.identity and seen.visible > 1:
            by_card.setdefault((seen.host, seen.identity), []).append(rank)
    return next((sorted(ranks) for ranks in by_card.values() if len(ranks) > 1), [])


def _evidence(seen: RankDevice, refused: bool) -> Iterator[str]:
    if seen.visible > 1:
        yield f"each of them sees {seen.visible} cards"
    if refused:
        yield "NCCL refuses two ranks on one card"
