"""Addresses of the pages of alerts."""

from django.urls import path

from portal.pages.alerting import baseline, board, diagnosis, rules, ways
from portal.pages.telemetry import cards

urlpatterns = [
    path("alerts/", board.index, name="alerts"),
    path("cards/<str:uid>/weeks/", cards.card_weeks, name="card-weeks"),
    path("alerts/<str:uid>/", board.detail, name="alert"),
    path("alerts/<str:uid>/<str:verb>/", board.act, name="alert-act"),
    path("workloads/<str:uid>/hints/", diagnosis.hints, name="workload-hints"),
    path("workloads/<str:uid>/diagnose/", diagnosis.walk, name="workload-diagnose"),
    path("cards/<str:uid>/hints/", diagnosis.card_hints, name="card-hints"),
    path("baseline/", baseline.index, name="baseline"),
    path("alert-silences/<str:uid>/end/", board.silence_over, name="alert-silence-end"),
    path("alert-rules/", rules.index, name="alert-rules"),
    path("alert-rules/new/", rules.new, name="alert-rule-new"),
    path("alert-rules/tried/", rules.tried, name="alert-rule-tried"),
    path("alert-rules/<str:uid>/", rules.detail, name="alert-rule"),
    path("alert-rules/<str:uid>/<str:verb>/", rules.act, name="alert-rule-act"),
    path("alert-ways/", ways.index, name="alert-ways"),
    path("alert-ways/channels/", ways.channel_new, name="alert-channel-new"),
    path("alert-ways/channels/<str:uid>/<str:verb>/", ways.channel_act, name="alert-channel-act"),
    path("alert-ways/routes/", ways.route_new, name="alert-route-new"),
    path("alert-ways/routes/<str:uid>/<str:verb>/", ways.route_act, name="alert-route-act"),
    path("alert-ways/words/<str:uid>/again/", ways.again, name="alert-word-again"),
]
