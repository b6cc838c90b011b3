"""Where the page of a place is."""

from django.urls import reverse

from pool.models import Organization, Project


def place_url(place: Project | Organization | None) -> str:
    """The page of a project or organization; home for neither."""
    if isinstance(place, Project):
        return reverse("project", args=[place.uid])
    return reverse("organization", args=[place.uid]) if place is not None else reverse("home")
