"""The database: psycopg's pool for the web, long connections for Celery."""

from typing import Any

from portal.settings import env


def databases() -> dict[str, Any]:
    """One database. `GPUPOOL_ROLE` says who asks: web pools, a worker keeps, others open anew."""
    found = env.database()
    if not found:
        found = {"ENGINE": "django.db.backends.postgresql", "NAME": "", "OPTIONS": {}}
    role = env.text("GPUPOOL_ROLE", "command")
    found["CONN_HEALTH_CHECKS"] = True
    found["CONN_MAX_AGE"] = 60 if role == "worker" else 0
    if role == "web":
        found["OPTIONS"]["pool"] = {"min_size": 2, "max_size": 16, "timeout": 10}
    return {"default": found}


CACHES: dict[str, Any] = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "portal_cache",
    },
    "fast": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": env.redis().for_redis_py,
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    },
}
