"""``srcgrad serve``: a page on this machine where one edits a function and sees its gradient.

It runs the programs that it is sent, so that nobody else may send it any:

- it listens on 127.0.0.1 only;
- its address holds a random token, which is compared in constant time; without it every path is not found;
- the ``Host`` of a request has to be this address, so that a name that somebody lets point to 127.0.0.1 (DNS rebinding)
  does not reach it, and an ``Origin``, which browsers send along, too;
- a request has at most 64 KiB, arrives within ten seconds, and its program ends within ``limit`` seconds or is killed;
- the page loads nothing from elsewhere (Content-Security-Policy), and may not be framed.

Programs run with the rights of whoever started the server, as in a notebook.
"""

from __future__ import annotations

import hmac
import json
import secrets
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from srcgrad.inspect.live import Worker

HOST = "127.0.0.1"
LARGEST = 64 * 1024


class Server(ThreadingHTTPServer):
    """The server; ``url`` is the address of its page, token included."""

    daemon_threads = True

    def __init__(self, port: int = 0, limit: float = 10.0) -> None:
        super().__init__((HOST, port), Handler)
        self.token = secrets.token_urlsafe(32)
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}
        self.url = f"http://{HOST}:{self.server_port}/{self.token}/"
        self.worker = Worker(limit)

    def server_close(self) -> None:
        super().server_close()
        self.worker.stop()


class Handler(BaseHTTPRequestHandler):
    """GET gives the page, POST of a program its gradient."""

    server: Server
    timeout = 10.0  # for a request to arrive
    server_version = "srcgrad"
    sys_version = ""

    def do_GET(self) -> None:
        if self._is_allowed("/"):
            nonce = secrets.token_urlsafe(16)
            page = files("srcgrad.inspect").joinpath("live.html").read_text(encoding="utf-8")
            policy = f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'"
            header = f"{policy}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            text = page.replace("NONCE", nonce)
            self._send(HTTPStatus.OK, text, "text/html; charset=utf-8", {"Content-Security-Policy": header})

    def do_POST(self) -> None:
        if not self._is_allowed("/gradient"):
            return
        if self.headers.get_content_type() != "application/json":
            return self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            return self._refuse(HTTPStatus.LENGTH_REQUIRED)
        if len(length) > 9 or int(length) > LARGEST:
            return self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        try:
            given = json.loads(self.rfile.read(int(length)))
            text, call, argnums = (given[name] for name in ("text", "call", "argnums"))
        except (ValueError, KeyError, TypeError):
            return self._refuse(HTTPStatus.BAD_REQUEST)
        if not all(isinstance(one, str) for one in (text, call, argnums)):
            return self._refuse(HTTPStatus.BAD_REQUEST)
        found = self.server.worker.ask(text, call, argnums)
        self._send(HTTPStatus.OK, json.dumps(asdict(found)), "application/json")

    def _is_allowed(self, place: str) -> bool:
        """Whether the request is for this address, from its own page, with the token; it is answered otherwise."""
        origin = self.headers.get("Origin")
        if self.headers.get("Host") not in self.server.hosts or (
            origin is not None and origin.removeprefix("http://") not in self.server.hosts
        ):
            self._refuse(HTTPStatus.FORBIDDEN)
            return False
        expected = f"/{self.server.token}{place}".encode()
        if not hmac.compare_digest(self.path.encode("utf-8", "surrogateescape"), expected):
            self._refuse(HTTPStatus.NOT_FOUND)
            return False
        return True

    def _refuse(self, status: HTTPStatus) -> None:
        self.close_connection = True
        self._send(status, status.phrase, "text/plain; charset=utf-8")

    def _send(self, status: HTTPStatus, text: str, kind: str, headers: dict[str, str] | None = None) -> None:
        body = text.encode()
        self.send_response(status)
        about = {"Content-Type": kind, "Content-Length": str(len(body)), "X-Content-Type-Options": "nosniff"}
        for name, value in {**about, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}.items():
            self.send_header(name, value)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the paths hold the token."""


def serve(port: int = 0, limit: float = 10.0) -> None:
    """Print the address and answer until Ctrl-C."""
    server = Server(port, limit)
    try:
        print(f"{server.url}\nThe page runs what is typed into it, on this machine. Ctrl-C ends it.", flush=True)
        server.serve_forever()
    finally:
        server.server_close()
