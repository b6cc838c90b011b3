"""A little receiver that keeps what is posted to it and says what it is told to say."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """Listens on a port of its own; `says` is the body, `drip` sends it a byte at a time."""

    def __init__(self, *, status=200, says=b"ok", drip=False):
        got = self.got = []
        over = self.gone = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                got.append((self.path, dict(self.headers), body))
                self.send_response(status)
                self.end_headers()
                if not drip:
                    self.wfile.write(says)
                while drip and not over.is_set():
                    try:
                        self.wfile.write(b" ")
                        self.wfile.flush()
                    except OSError:
                        break
                    time.sleep(0.02)

            def log_message(self, *_):
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.gone.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
