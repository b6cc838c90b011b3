"""What a person should know about."""

from django.db.models import QuerySet
from rest_framework import serializers

from pool.lifecycle.alerts import AlertState
from pool.models import Alert
from pool.selectors.alerts import alert_list
from portal.api.door import Listed
from portal.api.fields import Filters


class AlertOut(serializers.ModelSerializer[Alert]):
    """One condition from first seen to resolved."""

    detail = serializers.DictField()

    class Meta:
        model = Alert
        fields = [
            "uid",
            "family",
            "severity",
            "subject",
            "title",
            "detail",
            "state",
            "state_since",
            "first_seen_at",
        ]


class AlertFilters(Filters):
    """Filters of the list."""

    state = serializers.ChoiceField(choices=[s.value for s in AlertState], required=False)
    family = serializers.CharField(max_length=12, required=False)
    severity = serializers.CharField(max_length=12, required=False)


class AlertDoor(Listed):
    """Alerts about work that the caller may read; a platform admin sees all."""

    serializer_class = AlertOut
    filters = AlertFilters
    queryset = Alert.objects.none()

    def rows(self) -> QuerySet[Alert]:
        """The caller's own."""
        return alert_list(standing=self.standing)
