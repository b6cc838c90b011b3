"""Form fields as the design wants them, with hint and error tied to them for screen readers."""

from django import template
from django.forms import BoundField, CheckboxInput, Select
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def control(field: BoundField, **attributes: str) -> SafeString:
    """The input with its class, its hint and its error named; `data_x` becomes data-x."""
    attrs: dict[str, str | bool] = {
        name.replace("_", "-"): value for name, value in attributes.items()
    }
    given = field.field.widget.attrs.get("class", "")
    style = " ".join(filter(None, [_style(field), given]))
    attrs["class"] = f"{style} is-invalid" if field.errors else style
    named = [f"{field.id_for_label}-hint"] if field.help_text else []
    if field.errors:
        attrs["aria-invalid"] = "true"
        named.append(f"{field.id_for_label}-error")
    if named:
        attrs["aria-describedby"] = " ".join(named)
    return field.as_widget(attrs=attrs)


def _style(field: BoundField) -> str:
    widget = field.field.widget
    if isinstance(widget, CheckboxInput):
        return "form-check-input"
    return "form-select" if isinstance(widget, Select) else "form-control"
