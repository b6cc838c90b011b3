"""A word to the browsers is tried once: a layer that is away must not hold up whoever writes."""

import socket
import threading

from pool.announce import Speaker


def test_a_layer_that_hangs_up_is_called_once_and_then_left_alone():
    door = socket.create_server(("127.0.0.1", 0))
    calls = []

    def hang_up():
        while True:
            try:
                caller, _who = door.accept()
            except OSError:
                return
            calls.append(caller)
            caller.close()

    watcher = threading.Thread(target=hang_up, daemon=True)
    watcher.start()
    speaker = Speaker(f"redis://127.0.0.1:{door.getsockname()[1]}/0", "test")
    for _turn in range(3):
        speaker.send("events", {"type": "event", "number": 1})
    door.shutdown(socket.SHUT_RDWR)
    door.close()
    watcher.join(5)
    assert len(calls) == 1
