"""Django's command line for this project."""

import os
import sys

# Written so that an old Python still parses it and can say so.
if sys.version_info < (3, 11):
    sys.exit("Python 3.11 or newer is needed; this is %s." % sys.version.split()[0])


def main():
    # type: () -> None
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings.local")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit("Django is not installed here: run `make up`, or install requirements.txt first.")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
