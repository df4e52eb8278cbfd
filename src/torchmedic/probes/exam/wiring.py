"""The exam of a training's wiring: the probes that look closely at the first steps."""

from __future__ import annotations

from torchmedic.probes.crash.frozen import FrozenAtCrash
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.exam.autocast import AutocastExam
from torchmedic.probes.exam.averages import AverageExam
from torchmedic.probes.exam.averages_left import AveragesLeft
from torchmedic.probes.exam.backwards import BackwardExam
from torchmedic.probes.exam.borrowed import BorrowedExam
from torchmedic.probes.exam.checkpoints import CheckpointExam
from torchmedic.probes.exam.clipping import ClippingExam
from torchmedic.probes.exam.cuts import CutExam
from torchmedic.probes.exam.cycles import CycleExam
from torchmedic.probes.exam.discards import DiscardExam
from torchmedic.probes.exam.evaluations import EvaluationExam
from torchmedic.probes.exam.flags import FlagExam
from torchmedic.probes.exam.freezes import FreezeExam
from torchmedic.probes.exam.fresh_norms import FreshNormExam
from torchmedic.probes.exam.frozen_groups import FrozenGroupExam
from torchmedic.probes.exam.gradients import GradientExam
from torchmedic.probes.exam.group_options import GroupOptionExam
from torchmedic.probes.exam.half_saved import HalfSavedExam
from torchmedic.probes.exam.lasting_settings import LastingSettings
from torchmedic.probes.exam.leaves import LeafExam
from torchmedic.probes.exam.left_gradients import LeftGradientExam
from torchmedic.probes.exam.loaded_rates import LoadedRateExam
from torchmedic.probes.exam.lost_flags import LostFlags
from torchmedic.probes.exam.modes import ModeExam
from torchmedic.probes.exam.newcomers import NewcomerExam
from torchmedic.probes.exam.optimizer_state import OptimizerStateExam
from torchmedic.probes.exam.overrides import OverrideExam
from torchmedic.probes.exam.overwriting import OverwritingExam
from torchmedic.probes.exam.padding import PaddingExam
from torchmedic.probes.exam.rate_teeth import RateTeeth
from torchmedic.probes.exam.rebinding import RebindingExam
from torchmedic.probes.exam.resuming import ResumeExam
from torchmedic.probes.exam.reuse import ReuseExam
from torchmedic.probes.exam.reversals import ReversalExam
from torchmedic.probes.exam.rounding import RoundingExam
from torchmedic.probes.exam.samplers import SamplerExam
from torchmedic.probes.exam.samples import SampleExam
from torchmedic.probes.exam.scaled_gradients import ScaledGradientExam
from torchmedic.probes.exam.scaler import ScalerExam
from torchmedic.probes.exam.schedule_resuming import ScheduleResumeExam
from torchmedic.probes.exam.schedules import ScheduleExam
from torchmedic.probes.exam.second_names import SecondNames
from torchmedic.probes.exam.statements import StatementExam
from torchmedic.probes.exam.strays import StrayExam
from torchmedic.probes.exam.units import UnitExam
from torchmedic.probes.exam.zeros import ZeroExam
from torchmedic.probes.objects.lineage import Lineage
from torchmedic.record import Probe


def wiring_exams(modules: Modules, optimizers: Optimizers) -> tuple[Probe, ...]:
    lineage, freezes = Lineage(modules), FreezeExam(modules)
    modes = ModeExam(modules, optimizers)
    schedules = ScheduleExam(optimizers)
    averages = AverageExam(modules, optimizers)
    return (
        lineage,
        LeafExam(modules, optimizers, lineage),
        freezes,
        FrozenAtCrash(modules, optimizers, freezes),
        CutExam(modules, optimizers, lineage, freezes),
        CycleExam(modules, optimizers),
        LeftGradientExam(modules, optimizers),
        DiscardExam(modules, optimizers),
        modes,
        schedules,
        CheckpointExam(lineage),
        RoundingExam(modules, optimizers),
        SampleExam(),
        EvaluationExam(modules, optimizers, modes),
        SamplerExam(),
        BorrowedExam(modules, optimizers),
        GradientExam(modules, optimizers),
        OverrideExam(modules),
        PaddingExam(modules, optimizers),
        ResumeExam(optimizers),
        OptimizerStateExam(modules, optimizers),
        ScheduleResumeExam(schedules),
        RateTeeth(optimizers, schedules),
        ScalerExam(),
        StatementExam(modules, optimizers),
        FlagExam(modules, optimizers),
        FrozenGroupExam(modules, optimizers),
        GroupOptionExam(modules, freezes),
        NewcomerExam(modules, optimizers),
        ClippingExam(),
        OverwritingExam(modules),
        LostFlags(modules),
        LastingSettings(modules),
        StrayExam(optimizers),
        FreshNormExam(),
        HalfSavedExam(modules, optimizers, lineage),
        UnitExam(modules, optimizers),
        ZeroExam(modules, optimizers),
        averages,
        AveragesLeft(averages),
        ReuseExam(modules, optimizers),
        BackwardExam(modules, optimizers),
        RebindingExam(),
        SecondNames(),
        ReversalExam(),
        AutocastExam(modules),
        ScaledGradientExam(),
        LoadedRateExam(optimizers),
    )
