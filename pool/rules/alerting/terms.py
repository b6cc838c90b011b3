"""Pure: the words that alert rules, routes, channels and deliveries are made of."""

from enum import StrEnum


class Family(StrEnum):
    """Hardware is told at any hour; performance and work keep to the hours of their routes."""

    HARDWARE = "hardware"
    PERFORMANCE = "performance"
    WORKLOAD = "workload"


class Severity(StrEnum):
    """How much it matters, least first."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


RANK = {severity: place for place, severity in enumerate(Severity)}


class Scope(StrEnum):
    """What a rule judges one by one."""

    CARD = "card"
    NODE = "node"
    PARTITION = "partition"
    PROJECT = "project"
    WORKLOAD = "workload"
    POOL = "pool"


class Aggregate(StrEnum):
    """How the readings of a window become one number; `increase` is what a counter grew by."""

    MEAN = "mean"
    P95 = "p95"
    MAX = "max"
    MIN = "min"
    LAST = "last"
    INCREASE = "increase"


class Side(StrEnum):
    """On which side of the threshold it is wrong."""

    ABOVE = "above"
    BELOW = "below"


class ChannelKind(StrEnum):
    """The ways out. `portal` is the inbox of people, with the letters they chose."""

    PORTAL = "portal"
    MAIL = "mail"
    WEBHOOK = "webhook"
    SLACK = "slack"
    WECOM = "wecom"
    FEISHU = "feishu"
    DINGTALK = "dingtalk"
    ALERTMANAGER = "alertmanager"


DIALLED = frozenset(ChannelKind) - {ChannelKind.PORTAL, ChannelKind.MAIL}
"""Kinds with an address on the network."""


class Word(StrEnum):
    """What a delivery says."""

    FIRED = "fired"
    RESOLVED = "resolved"
