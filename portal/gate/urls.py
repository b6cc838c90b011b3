"""Addresses at which nodes knock."""

from django.urls import path

from portal.gate import views

app_name = "gate"
urlpatterns = [
    path("join", views.join, name="join"),
    path("hello", views.hello, name="hello"),
    path("desired", views.desired, name="desired"),
    path("report", views.report, name="report"),
    path("samples", views.samples, name="samples"),
    path("logs", views.logs, name="logs"),
]
