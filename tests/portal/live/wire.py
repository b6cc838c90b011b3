"""A client's end of one WebSocket, without a server between: the ASGI messages themselves."""

from typing import Any

from asgiref.testing import ApplicationCommunicator

PATIENCE_S = 10.0


class Wire(ApplicationCommunicator):
    """Connect, send and receive text, hang up."""

    def __init__(self, application: Any, path: str, headers: list[tuple[bytes, bytes]]) -> None:
        scope = {
            "type": "websocket",
            "path": path,
            "query_string": b"",
            "headers": headers,
            "subprotocols": [],
        }
        super().__init__(application, scope)

    async def connect(self) -> bool:
        """Whether the other end accepted."""
        await self.send_input({"type": "websocket.connect"})
        answer = await self.receive_output(PATIENCE_S)
        return bool(answer["type"] == "websocket.accept")

    async def say(self, text: str) -> None:
        """Send a text."""
        await self.send_input({"type": "websocket.receive", "text": text})

    async def hear(self, seconds: float = PATIENCE_S) -> str:
        """The next text; the other end must not hang up."""
        answer = await self.receive_output(seconds)
        assert answer["type"] == "websocket.send", answer
        return str(answer["text"])

    async def closed(self) -> int:
        """The number with which the other end hangs up; texts before it are passed over."""
        while True:
            answer = await self.receive_output(PATIENCE_S)
            if answer["type"] == "websocket.close":
                return int(answer.get("code", 0))

    async def hang_up(self) -> None:
        """Go away, and wait until the other end has noticed."""
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(PATIENCE_S)
