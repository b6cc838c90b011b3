"""Channels: the layer over Valkey, lost without harm."""

from typing import Any

from portal.settings import env

CHANNEL_LAYERS: dict[str, Any] = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {
            "hosts": [env.redis().for_redis_py],
            "prefix": env.text("GPUPOOL_CHANNEL_PREFIX", "gpupool"),
        },
    }
}
