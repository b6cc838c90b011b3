"""How far past its declared duration a person's work has run lately."""

from django.db import models
from django.db.models import Q

from pool.models.users import User


class Accuracy(models.Model):
    """Of a person's recent jobs nine in ten took at most `p90_ratio` times what was declared.

    Worked out anew from the attempts, never added to. Who has run too few has no row.
    """

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="accuracy")
    p90_ratio = models.FloatField()
    runs = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="accuracy_ratio_positive", condition=Q(p90_ratio__gt=0)),
        ]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.p90_ratio}"
