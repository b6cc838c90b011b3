"""Parts of a file that is streamed: between two of them no connection is kept."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import connection

Asked = ParamSpec("Asked")
Found = TypeVar("Found")


def given_back(read: Callable[Asked, Found]) -> Callable[Asked, Found]:
    """Reads a part of a stream and gives the connection back to its pool.

    Else a reader who takes the file slowly would keep one of the process's few until its end.
    """

    @wraps(read)
    def reading(*args: Asked.args, **given: Asked.kwargs) -> Found:
        try:
            return read(*args, **given)
        finally:
            if not connection.in_atomic_block:
                connection.close()

    return reading
