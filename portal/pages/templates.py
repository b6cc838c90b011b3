"""Templates: named needs that one can ask for."""

from django.http import HttpResponse
from django.shortcuts import render

from pool.selectors.templates import template_versions
from portal.access.guards import anywhere
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, page


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Every template the person may know of; those that cannot be used say why."""
    context = {
        "versions": template_versions(standing=request.standing),
        "standing": request.standing,
        "makes": anywhere(request.standing, Verb.TEMPLATE_MANAGE),
    }
    return render(request, "pages/templates/index.html", context)
