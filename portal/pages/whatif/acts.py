"""What is done to a what-if: cancel, copy, rename, share, delete."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.errors import Forbidden
from pool.events import Actor
from pool.lifecycle.studies import Share
from pool.models import Study
from pool.selectors.whatif.studies import study_list
from pool.services.whatif.studies import study_cancel, study_change, study_delete
from portal.access.guards import found, own
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast


@page("POST")
@refusal_as_toast
def act(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Cancel or delete one's own."""
    study = _own(request, uid)
    who = Actor.of(request.user)
    match verb:
        case "cancel":
            study_cancel(study=study, actor=who)
        case "delete":
            study_delete(study=study, actor=who)
            messages.success(request, _("The what-if is deleted."))
            return go(request, reverse("what-ifs"))
        case _:
            raise Http404
    return go(request, reverse("what-if", args=[study.uid]))


@page("POST")
@refusal_as_toast
def change(request: HtmxRequest, uid: str) -> HttpResponse:
    """Another name, comment or circle of readers."""
    study = _own(request, uid)
    share = request.POST.get("share") or None
    if share == Share.PLATFORM and not request.standing.platform:
        raise Forbidden
    study_change(
        study=study,
        actor=Actor.of(request.user),
        name=request.POST.get("name"),
        comment=request.POST.get("comment"),
        share=share,
    )
    messages.success(request, _("Saved."))
    return go(request, reverse("what-if", args=[study.uid]))


def _own(request: HtmxRequest, uid: str) -> Study:
    """A readable one that is the person's own; who runs the platform may change all.

    Raises:
        NotYours: it is not theirs to know.
        Forbidden: it is another's.
    """
    return own(request.standing, found(study_list(standing=request.standing), uid))
