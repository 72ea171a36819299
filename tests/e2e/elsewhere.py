# SPDX-License-Identifier: Apache-2.0
"""A web server of somebody else's on loopback, for pages that a browser is lured to."""
import http.server
import threading


class Elsewhere:
    """Serves `pages` (path to HTML, with no policy at all), and keeps what it is sent."""

    def __init__(self, case, pages):
        self.pages, self.seen = pages, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Answers with a page, or 404."""

            def do_GET(self):
                outer.seen.append((self.path, dict(self.headers)))
                page = outer.pages.get(self.path.partition("?")[0])
                self.send_response(404 if page is None else 200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write((page or "").encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        thread.start()
        case.addCleanup(self.server.server_close)
        case.addCleanup(self.server.shutdown)
        self.port = self.server.server_port
        self.origin = f"http://127.0.0.1:{self.port}"
