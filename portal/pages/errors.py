"""What a person sees when a page is not there, not theirs, or broken."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import requires_csrf_token


@requires_csrf_token
def missing(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Not there, or not yours to know."""
    return render(request, "errors/404.html", status=404)


@requires_csrf_token
def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Seen, but not allowed."""
    return render(request, "errors/403.html", status=403)


def broken(request: HttpRequest) -> HttpResponse:
    """A bug; this page asks neither the database nor the session."""
    return HttpResponse(_BROKEN, status=500)


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form was older than the login; sent by Django's CSRF check."""
    return render(request, "errors/stale_form.html", status=403)


_BROKEN = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Something broke</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><h1>Something broke on our side</h1>
<p>Your running work is not touched. The error is in the log; try again in a moment.</p>
<p>服务器出错了。正在运行的任务不受影响，请稍后再试。</p>
<p><a href="/">Home · 首页</a></p></body></html>
"""
