"""Input of pages: what forms share."""

from django import forms

from pool.errors import Invalid, PoolError


def take_refusal(
    form: forms.Form, refused: PoolError, renamed: dict[str, str] | None = None
) -> None:
    """Put the pool's refusal beside the fields it names, or above the form."""
    if not isinstance(refused, Invalid):
        form.add_error(None, str(refused))
        return
    for name, said in refused.detail.items():
        field = (renamed or {}).get(name, name)
        known = field if field in form.fields else None
        for text in said:
            form.add_error(known, text if known else f"{name}: {text}")
