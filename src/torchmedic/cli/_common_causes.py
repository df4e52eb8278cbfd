"""The commonest causes of the symptoms that have many: what to think of first, by experience."""

from __future__ import annotations

from torchmedic.findings import Symptom

_OF_NAN = ("NUM025", "DAT030", "NUM002", "NUM003", "NUM010", "NUM006", "NUM004", "NUM011", "NUM013", "NUM015")
COMMONEST: dict[Symptom, tuple[str, ...]] = {
    Symptom.CRASH:
        ("ERR002", "ERR011", "ERR004", "ERR021", "ERR019", "ERR007", "ENV009", "ERR052", "ERR014", "ERR030"),
    Symptom.DEATH:
        ("ERR060", "MEM001", "MEM002", "ERR034", "ERR061", "ENV011", "MEM010", "RNK008", "ENV003", "ENV006"),
    Symptom.LOSS_NAN: _OF_NAN,
    Symptom.WEIGHTS_NAN: _OF_NAN,
    Symptom.LOSS_ZERO:
        ("LOS008", "LOS017", "LOS012", "LOS084", "DAT063", "DAT073", "LOS042", "LOS040", "DAT221", "LOS006"),
    Symptom.LOSS_FLAT:
        ("TRN001", "TRN002", "WIR005", "WIR007", "LOS001", "LOS009", "WIR015", "WIR001", "TRN003", "DAT001"),
    Symptom.LOSS_NOISY:
        ("TRN001", "WIR014", "DAT001", "NUM025", "TRN071", "TRN072", "TRN020", "WIR023", "DAT124", "TRN060"),
    Symptom.SCORE_LOW:
        ("TRN021", "WIR034", "WIR021", "TRN001", "LOS001", "LOS009", "DAT071", "DAT110", "WIR005", "WIR028"),
    Symptom.SCORE_TOO_GOOD:
        ("DAT003", "DAT113", "DAT002", "DAT114", "DAT118", "DAT221", "DAT005", "DAT115", "LOS040", "DAT053"),
    Symptom.WEIGHTS_STILL:
        ("WIR005", "WIR001", "WIR002", "WIR007", "WIR006", "WIR015", "WIR016", "TRN002", "WIR008", "TRN003"),
    Symptom.CHECKPOINT_DIFFERS:
        ("WIR034", "WIR028", "WIR001", "WIR002", "WIR021", "WIR029", "WIR127", "WIR051", "WIR033", "WIR052"),
    Symptom.MEMORY_GROWS:
        ("ERR021", "MEM001", "MEM002", "MEM010", "MEM011", "LOS009", "ERR060", "MEM012", "MEM240", "MEM013"),
}  # fmt: skip
