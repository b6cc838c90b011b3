"""Addresses of the pages round requests."""

from django.urls import path

from portal.pages.advisor import questions, startable
from portal.pages.approvals import effects
from portal.pages.approving import deputies, editing, leases, policy
from portal.pages.requests import wait

urlpatterns = [
    path("home/now/", startable.index, name="home-now"),
    path("requests/advisor/", questions.index, name="advisor"),
    path("requests/advisor/judged/", questions.judged, name="advisor-judged"),
    path("requests/wait/", wait, name="request-wait"),
    path("requests/<str:uid>/edit/", editing.edit, name="request-edit"),
    path("requests/<str:uid>/send/", editing.send, name="request-send"),
    path("approvals/<str:uid>/effects/", effects, name="approval-effects"),
    path("leases/", leases.index, name="leases"),
    path("leases/<str:uid>/", leases.detail, name="lease"),
    path("leases/<str:uid>/extend/", leases.extend, name="lease-extend"),
    path("leases/<str:uid>/resize/", leases.resize, name="lease-resize"),
    path("leases/<str:uid>/give-back/", leases.give_back, name="lease-give-back"),
    path("leases/<str:uid>/recall/", leases.recall, name="lease-recall"),
    path("deputies/", deputies.index, name="deputies"),
    path("deputies/<str:uid>/end/", deputies.end, name="deputy-end"),
    path("approval-policy/", policy.index, name="approval-policy"),
]
