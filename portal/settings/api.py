"""The REST door."""

from typing import Any

from billing.rating.budgets import Action, Every, Measure
from billing.rating.months import DisputeState, MonthState
from billing.rating.tariffs import Unit
from billing.rating.terms import Cut
from nodeagent.protocol.vocabulary import Mode, WorkloadKind
from pool.lifecycle.catalogue import Access
from pool.lifecycle.idleness import IdleAction
from pool.lifecycle.roles import Priority, QuotaKind, QuotaUnit, Role, WorkClass
from pool.lifecycle.studies import Share, StudyKind, StudyState
from pool.rules.whatif.compare import Lot
from pool.rules.whatif.files import SHAPES

REST_FRAMEWORK: dict[str, Any] = {
    "EXCEPTION_HANDLER": "portal.api.errors.envelope",
    "DEFAULT_PAGINATION_CLASS": "portal.api.pagination.Pages",
    "DEFAULT_SCHEMA_CLASS": "portal.api.schema.DoorSchema",
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "portal.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["portal.api.authentication.MayCall"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["portal.api.parsers.BoundedJSON"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "portal.api.parsers.AlwaysJSON",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_THROTTLE_CLASSES": ["portal.api.throttling.TokenRate"],
    "DEFAULT_THROTTLE_RATES": {"token": "1200/min"},
    "COERCE_DECIMAL_TO_STRING": True,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "GPU pool",
    "VERSION": "1",
    "DESCRIPTION": "Ask for a share of a card, a slice or whole cards; follow it; see its cost.",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "persistAuthorization": False},
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SORT_OPERATIONS": True,
    # Names of choices that several nouns have stay the same whatever noun is added.
    "ENUM_NAME_OVERRIDES": {
        "AccessEnum": [one.value for one in Access],
        "AgreementPayerEnum": "billing.models.contracts.PAYERS",
        "BudgetActionEnum": [one.value for one in Action],
        "BudgetPeriodEnum": [one.value for one in Every],
        "CutEnum": [one.value for one in Cut],
        "DisputeStateEnum": [one.value for one in DisputeState],
        "MeasureEnum": [one.value for one in Measure],
        "MonthStateEnum": [one.value for one in MonthState],
        "IdleActionEnum": [one.value for one in IdleAction],
        "KindEnum": [one.value for one in WorkloadKind],
        "ModeEnum": [one.value for one in Mode],
        "OverheadKindEnum": "billing.models.contracts.OVERHEADS",
        "PriceModeEnum": [*(one.value for one in Mode), "host"],
        "PriorityEnum": [one.value for one in Priority],
        "QuotaKindEnum": [one.value for one in QuotaKind],
        "QuotaUnitEnum": [one.value for one in QuotaUnit],
        "RoleEnum": [one.value for one in Role],
        "SharedCostPayerEnum": ["platform", "shared"],
        "HolderOrPlatformEnum": ["holders", "platform"],
        "SectionEnum": "portal.configuration.SECTION_NAMES",
        "RecordFormatEnum": list(SHAPES),
        "StudyKindEnum": [one.value for one in StudyKind],
        "StudyStateEnum": [one.value for one in StudyState],
        "StudyShareEnum": [one.value for one in Share],
        "LotEnum": [one.value for one in Lot],
        "TemplatePriorityEnum": ["high", "normal", "low", "scavenger"],
        "DirectoryEnum": ["ldap", "oidc"],
        "UnitEnum": [one.value for one in Unit],
        "WorkClassEnum": [one.value for one in WorkClass],
    },
}
