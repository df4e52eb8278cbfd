"""Which probes watch a run, in the order in which they hear of events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from torchmedic.record import Probe, Recorder

if TYPE_CHECKING:
    from torchmedic.probes.events.loaders import Loaders
    from torchmedic.probes.events.modules import Modules


def install_probes(recorder: Recorder, *, born_before: Iterable[Any] = ()) -> None:
    """Install every probe. Called when torch has been imported; `born_before` are modules that were built earlier."""
    from torchmedic.probes.course.frameworks import Frameworks
    from torchmedic.probes.course.metrics import Metrics
    from torchmedic.probes.course.pulse import Pulse
    from torchmedic.probes.course.strides import Strides
    from torchmedic.probes.course.trackers import Trackers
    from torchmedic.probes.course.vitals import Vitals
    from torchmedic.probes.data.datasets import DataExam
    from torchmedic.probes.data.first_batch_again import FirstBatchAgain
    from torchmedic.probes.data.first_batches import FirstBatches
    from torchmedic.probes.data.held_data import HeldData
    from torchmedic.probes.data.ignored_tokens import IgnoredTokens
    from torchmedic.probes.data.message_edges import MessageEdges
    from torchmedic.probes.data.paired_files import PairedFiles
    from torchmedic.probes.data.rows_changed import RowsChanged
    from torchmedic.probes.data.workers import WorkerExam
    from torchmedic.probes.data.wraparound import Wraparound
    from torchmedic.probes.events.autograd import Autograd
    from torchmedic.probes.events.batches import Batches
    from torchmedic.probes.events.loaded_files import LoadedFiles
    from torchmedic.probes.events.loaders import Loaders
    from torchmedic.probes.events.modules import Modules
    from torchmedic.probes.events.optimizers import Optimizers
    from torchmedic.probes.exam.wiring import wiring_exams
    from torchmedic.probes.loss.losses import LossExam
    from torchmedic.probes.memory.fruitless_caches import FruitlessCaches
    from torchmedic.probes.memory.leaks import Leaks
    from torchmedic.probes.memory.piling_hooks import HookCounts
    from torchmedic.probes.memory.worker_caches import WorkerCaches
    from torchmedic.probes.memory.worker_memory import WorkerMemory
    from torchmedic.probes.ranks.joined import Ranks
    from torchmedic.replay.doctor import Doctor
    from torchmedic.replay.skips import Skips

    modules, optimizers, loaders = Modules(born_before), Optimizers(), Loaders()
    vitals = Vitals(modules)
    seen = (modules, optimizers, vitals, Autograd(), LoadedFiles(), Batches(), loaders)
    doctor = Doctor(modules, optimizers, loaders)
    watching = (*seen, doctor, Skips(doctor))
    silent = (
        LossExam(modules, optimizers),
        Pulse(optimizers),
        Strides(optimizers),
        Metrics(),
        Leaks(),
        FruitlessCaches(),
        HookCounts(modules),
        DataExam(loaders),
        Wraparound(),
        *_of_loaders(loaders),
    )
    ranks = (Ranks(modules, watch_threads), WorkerMemory(), WorkerCaches(), WorkerExam(loaders))
    trackers = Trackers()
    read = (FirstBatches(), FirstBatchAgain(loaders), RowsChanged(), IgnoredTokens(), PairedFiles(), HeldData())
    told = (trackers, Frameworks(trackers), *read, MessageEdges())
    exams = wiring_exams(modules, optimizers)
    for probe in (*watching, *ranks, *silent, *told, *exams, *_after_a_crash(modules, loaders)):
        recorder.add(probe)


def _of_loaders(loaders: Loaders) -> tuple[Probe, ...]:
    """What looks at how the loaders of a script are used."""
    from torchmedic.probes.data.collate_exam import CollateExam
    from torchmedic.probes.data.empty_passes import EmptyPasses
    from torchmedic.probes.data.evaluated_pairs import EvaluatedPairs
    from torchmedic.probes.data.full_batches import FullBatches
    from torchmedic.probes.data.group_splits import GroupSplits
    from torchmedic.probes.data.left_out import LeftOut
    from torchmedic.probes.data.mirror_exam import MirrorExam
    from torchmedic.probes.data.none_batches import NoneBatches
    from torchmedic.probes.data.paired_loaders import PairedLoaders
    from torchmedic.probes.data.removed_columns import RemovedColumns
    from torchmedic.probes.data.resized_labels import ResizedLabels
    from torchmedic.probes.data.score_orders import ScoreOrders
    from torchmedic.probes.data.spent_iterators import SpentIterators
    from torchmedic.probes.data.spent_streams import SpentStreams
    from torchmedic.probes.data.subset_settings import SubsetSettings

    own = (PairedLoaders(loaders), FullBatches(loaders), EmptyPasses(loaders), LeftOut(loaders), NoneBatches(loaders))
    exams = (SpentIterators(), SpentStreams(), CollateExam(loaders), MirrorExam(loaders), ResizedLabels(loaders))
    seen = (EvaluatedPairs(loaders), ScoreOrders(loaders), RemovedColumns(loaders))
    return (*own, GroupSplits(loaders), SubsetSettings(), *exams, *seen)


def _after_a_crash(modules: Modules, loaders: Loaders) -> tuple[Probe, ...]:
    """What looks round when the script has died."""
    from torchmedic.probes.crash.child_crashes import ChildCrashes
    from torchmedic.probes.crash.index_outside import IndicesOutside
    from torchmedic.probes.crash.inplace_clash import InplaceClashes
    from torchmedic.probes.crash.memory import MemoryLeft
    from torchmedic.probes.crash.mixed_samples import MixedSamples
    from torchmedic.probes.crash.scene import CrashScene
    from torchmedic.probes.crash.stale_graph import StaleGraphs
    from torchmedic.probes.crash.wide_samples import WideSamples

    scene = CrashScene(modules, loaders)
    of_graphs = (InplaceClashes(), StaleGraphs(), MixedSamples())
    return (ChildCrashes(), scene, IndicesOutside(loaders), *of_graphs, MemoryLeft(), WideSamples())


def watch_threads(recorder: Recorder) -> None:
    """Start the watching threads anew, in a forked process: no thread outlives a fork."""
    from torchmedic.probes.stuck.standing_still import Stuck
    from torchmedic.probes.stuck.whereabouts import Whereabouts

    for probe in (Whereabouts(), Stuck()):
        recorder.add(probe)


def install_clock(recorder: Recorder) -> None:
    """Only what counts steps, with data loading in this process, for a second run."""
    from torchmedic.probes.events.autograd import Autograd
    from torchmedic.probes.events.loaders import WithoutWorkers
    from torchmedic.probes.events.optimizers import Optimizers

    for probe in (Optimizers(), Autograd(), WithoutWorkers()):
        recorder.add(probe)


def install_wake(recorder: Recorder) -> None:
    """What a second run needs to look at one step."""
    from torchmedic.probes.events.autograd import Autograd
    from torchmedic.probes.events.batches import Batches
    from torchmedic.probes.events.loaders import Loaders
    from torchmedic.probes.events.modules import Modules
    from torchmedic.probes.events.optimizers import Optimizers
    from torchmedic.replay.wake import Wake

    modules, optimizers, loaders = Modules(), Optimizers(), Loaders()
    for probe in (modules, optimizers, Autograd(), Batches(), loaders, Wake(modules, optimizers, loaders)):
        recorder.add(probe)
    modules.listen()


def install_amplification(recorder: Recorder) -> None:
    """What a second run needs to see which line of the first step enlarges values."""
    from torchmedic.probes.events.autograd import Autograd
    from torchmedic.probes.events.loaders import WithoutWorkers
    from torchmedic.probes.events.modules import Modules
    from torchmedic.replay.amplification import Amplifications

    modules = Modules()
    for probe in (modules, Autograd(), WithoutWorkers(), Amplifications(modules)):
        recorder.add(probe)
    modules.listen()


def install_exponentials(recorder: Recorder) -> None:
    """What a second run needs to see the exponentials of one step."""
    from torchmedic.probes.events.autograd import Autograd
    from torchmedic.probes.events.loaders import WithoutWorkers
    from torchmedic.probes.events.modules import Modules
    from torchmedic.probes.events.optimizers import Optimizers
    from torchmedic.replay.exponentials import Exponentials

    modules = Modules()
    for probe in (modules, Optimizers(), Autograd(), WithoutWorkers(), Exponentials(modules)):
        recorder.add(probe)
    modules.listen()


def install_averaging(recorder: Recorder) -> None:
    """What a second run needs to see the first loss with means in place of sums."""
    from torchmedic.probes.events.autograd import Autograd
    from torchmedic.probes.events.loaders import WithoutWorkers
    from torchmedic.probes.events.modules import Modules
    from torchmedic.replay.averaging import Averaging

    modules = Modules()
    for probe in (modules, Autograd(), WithoutWorkers(), Averaging()):
        recorder.add(probe)
    modules.listen()


def install_locals(recorder: Recorder) -> None:
    """What a second run needs to see what functions held that prepare data."""
    from torchmedic.probes.events.loaders import WithoutWorkers
    from torchmedic.probes.events.optimizers import Optimizers
    from torchmedic.replay.local_arrays import LocalArrays

    for probe in (Optimizers(), WithoutWorkers(), LocalArrays()):
        recorder.add(probe)


def install_casts(recorder: Recorder) -> None:
    """What a second run needs to see what one line makes whole numbers of."""
    from torchmedic.probes.events.loaders import WithoutWorkers
    from torchmedic.probes.events.optimizers import Optimizers
    from torchmedic.replay.casts import Casts

    for probe in (Optimizers(), WithoutWorkers(), Casts()):
        recorder.add(probe)


def install_narrow(recorder: Recorder) -> None:
    """What a second run needs to see what some lines add and subtract."""
    from torchmedic.probes.events.loaders import WithoutWorkers
    from torchmedic.probes.events.optimizers import Optimizers
    from torchmedic.replay.narrow import Narrow

    for probe in (Optimizers(), WithoutWorkers(), Narrow()):
        recorder.add(probe)


def install_stores(recorder: Recorder) -> None:
    """What a second run needs to see what some lines put into arrays."""
    from torchmedic.probes.events.loaders import WithoutWorkers
    from torchmedic.probes.events.optimizers import Optimizers
    from torchmedic.replay.stores import Stores

    for probe in (Optimizers(), WithoutWorkers(), Stores()):
        recorder.add(probe)


def install_versions(recorder: Recorder) -> None:
    """What a second run needs to see which operation changed a saved tensor."""
    from torchmedic.probes.events.loaders import WithoutWorkers
    from torchmedic.probes.events.modules import Modules
    from torchmedic.probes.events.optimizers import Optimizers
    from torchmedic.replay.versions import Versions

    modules = Modules()
    for probe in (modules, Optimizers(), WithoutWorkers(), Versions(modules)):
        recorder.add(probe)
