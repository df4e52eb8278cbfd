"""The exam of a training's wiring: the probes that look closely at the first steps."""

from __future__ import annotations

from torchmedic.probes.exam_autocast import AutocastExam
from torchmedic.probes.exam_averages import AverageExam
from torchmedic.probes.exam_backwards import BackwardExam
from torchmedic.probes.exam_borrowed import BorrowedExam
from torchmedic.probes.exam_checkpoints import CheckpointExam
from torchmedic.probes.exam_clipping import ClippingExam
from torchmedic.probes.exam_cuts import CutExam
from torchmedic.probes.exam_cycles import CycleExam
from torchmedic.probes.exam_discards import DiscardExam
from torchmedic.probes.exam_evaluations import EvaluationExam
from torchmedic.probes.exam_flags import FlagExam
from torchmedic.probes.exam_freezes import FreezeExam
from torchmedic.probes.exam_fresh_norms import FreshNormExam
from torchmedic.probes.exam_frozen_groups import FrozenGroupExam
from torchmedic.probes.exam_gradients import GradientExam
from torchmedic.probes.exam_group_options import GroupOptionExam
from torchmedic.probes.exam_lasting_settings import LastingSettings
from torchmedic.probes.exam_leaves import LeafExam
from torchmedic.probes.exam_left_gradients import LeftGradientExam
from torchmedic.probes.exam_loaded_rates import LoadedRateExam
from torchmedic.probes.exam_lost_flags import LostFlags
from torchmedic.probes.exam_modes import ModeExam
from torchmedic.probes.exam_optimizer_state import OptimizerStateExam
from torchmedic.probes.exam_overrides import OverrideExam
from torchmedic.probes.exam_overwriting import OverwritingExam
from torchmedic.probes.exam_padding import PaddingExam
from torchmedic.probes.exam_rebinding import RebindingExam
from torchmedic.probes.exam_resuming import ResumeExam
from torchmedic.probes.exam_reuse import ReuseExam
from torchmedic.probes.exam_reversals import ReversalExam
from torchmedic.probes.exam_rounding import RoundingExam
from torchmedic.probes.exam_samplers import SamplerExam
from torchmedic.probes.exam_samples import SampleExam
from torchmedic.probes.exam_scaled_gradients import ScaledGradientExam
from torchmedic.probes.exam_scaler import ScalerExam
from torchmedic.probes.exam_schedule_resuming import ScheduleResumeExam
from torchmedic.probes.exam_schedules import ScheduleExam
from torchmedic.probes.exam_statements import StatementExam
from torchmedic.probes.exam_strays import StrayExam
from torchmedic.probes.exam_units import UnitExam
from torchmedic.probes.exam_zeros import ZeroExam
from torchmedic.probes.frozen_at_crash import FrozenAtCrash
from torchmedic.probes.lineage import Lineage
from torchmedic.probes.modules import Modules
from torchmedic.probes.optimizers import Optimizers
from torchmedic.probes.rate_teeth import RateTeeth
from torchmedic.probes.second_names import SecondNames
from torchmedic.record import Probe


def wiring_exams(modules: Modules, optimizers: Optimizers) -> tuple[Probe, ...]:
    lineage, freezes = Lineage(modules), FreezeExam(modules)
    modes = ModeExam(modules, optimizers)
    schedules = ScheduleExam(optimizers)
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
        ClippingExam(),
        OverwritingExam(modules),
        LostFlags(modules),
        LastingSettings(modules),
        StrayExam(optimizers),
        FreshNormExam(),
        UnitExam(modules, optimizers),
        ZeroExam(modules, optimizers),
        AverageExam(modules, optimizers),
        ReuseExam(modules, optimizers),
        BackwardExam(modules, optimizers),
        RebindingExam(),
        SecondNames(),
        ReversalExam(),
        AutocastExam(modules),
        ScaledGradientExam(),
        LoadedRateExam(optimizers),
    )
