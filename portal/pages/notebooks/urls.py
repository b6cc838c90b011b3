"""Addresses of pages about notebooks."""

from django.urls import path

from portal.pages.notebooks import detail, hogs, listing, nights, rules, shares, sizes

urlpatterns = [
    path("notebooks/", listing.index, name="notebooks"),
    path("idle-rules/", rules.index, name="idle-rules"),
    path("idle-rules/new/", rules.new, name="idle-rule-new"),
    path("idle-rules/judged/", rules.judged, name="idle-rules-judged"),
    path("idle-rules/<str:uid>/", rules.detail, name="idle-rule"),
    path("idle-rules/<str:uid>/remove/", rules.remove, name="idle-rule-remove"),
    path("hogs/", hogs.index, name="hogs"),
    path("workloads/<str:uid>/nudge/", hogs.nudge, name="hog-nudge"),
    path("notebooks/new/", listing.new, name="notebook-new"),
    path("notebooks/warnings/", detail.warnings, name="notebook-warnings"),
    path("notebooks/<str:uid>/", detail.detail, name="notebook"),
    path("notebooks/<str:uid>/enter/", detail.enter, name="notebook-enter"),
    path("notebooks/<str:uid>/night/", nights.ask, name="notebook-night"),
    path("notebooks/<str:uid>/night/priced/", nights.priced, name="notebook-night-priced"),
    path("notebooks/<str:uid>/night/<str:verb>/", nights.answer, name="notebook-night-answer"),
    path("notebooks/<str:uid>/vouch/", detail.vouch, name="notebook-vouch"),
    path("notebooks/<str:uid>/resize/", sizes.resize, name="notebook-resize"),
    path("notebooks/<str:uid>/resize/sized/", sizes.sized, name="notebook-sized"),
    path("notebooks/<str:uid>/share/", shares.share, name="notebook-share"),
    path("notebooks/<str:uid>/unshare/", shares.unshare, name="notebook-unshare"),
    path("notebooks/<str:uid>/look/", shares.look, name="notebook-look"),
    path("notebooks/<str:uid>/<str:verb>/", detail.act, name="notebook-act"),
]
