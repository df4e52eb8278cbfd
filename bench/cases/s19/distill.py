import torch.nn as nn
import torch.nn.functional as F


class DistillLoss(nn.Module):
    def __init__(self, temperature=3.0, alpha=0.9):
        super().__init__()
        self.T = temperature
        self.alpha = alpha
        self.kl = nn.KLDivLoss(reduction="batchmean")

    def forward(self, student_logits, teacher_logits, target):
        soft_student = F.softmax(student_logits / self.T, dim=1)
        soft_teacher = F.softmax(teacher_logits / self.T, dim=1)
        soft = self.kl(soft_student, soft_teacher) * self.T ** 2
        hard = F.cross_entropy(student_logits, target)
        return self.alpha * soft + (1 - self.alpha) * hard
