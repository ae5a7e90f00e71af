"""``srcgrad serve``: the gradient of what is typed, and who may type."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import threading
import time

import pytest

from srcgrad.inspect.live import answer
from srcgrad.inspect.serve import HOST, LARGEST, Server

PROGRAM = """\
import numpy as np


def f(x, n):
    for _ in range(n):
        x = np.sin(x)
    return x
"""


@pytest.fixture(scope="module")
def server():
    server = Server(limit=5.0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def request(server, method="POST", path=None, body=None, **headers):
    connection = http.client.HTTPConnection(HOST, server.server_port, timeout=30)
    place = f"/{server.token}/gradient" if path is None else path
    sent = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request(method, place, body, {name: value for name, value in sent.items() if value is not None})
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply, text


def asked(server, text, call="", argnums="0"):
    reply, found = request(server, body=json.dumps({"text": text, "call": call, "argnums": argnums}))
    assert reply.status == 200
    return json.loads(found)


def test_the_gradient_of_the_last_function_or_of_a_call(server):
    assert "def grad_f(x, n, " in asked(server, PROGRAM)["source"]
    found = asked(server, PROGRAM, "f(0.0, n=3)", "x")
    assert (found["value"], found["gradient"], found["fault"]) == ("0.0", "1.0", "")


@pytest.mark.parametrize(
    ("text", "call", "said"),
    [
        ("def f(x:\n", "", "SyntaxError"),
        ("x = 1\n", "", "defines no function"),
        ("def f(x):\n    yield x\n\ndef g(x):\n    return next(f(x))\n", "h(1.0)", "NameError"),
        ("print('seen')\n\n\ndef f(x):\n    return x\n", "1", "expected a call"),
        ("def f(x):\n    return 1 / x\n", "f(0.0)", "while computing live.py:2"),
        ("x = 1\ny = x / 0\n", "", "line 2, in <module>"),
        ("def f(x):\n    global y\n    y = x\n    return x\n", "", "hint: "),
        ("raise SystemExit(1)\n", "", "SystemExit"),
    ],
)  # fmt: skip
def test_a_fault_is_shown(text, call, said):
    assert said in answer(text, call).fault


def test_what_a_program_prints_is_shown():
    assert answer("print('seen')\n\n\ndef f(x):\n    return x\n").printed == "seen\n"


@pytest.mark.slow
def test_a_program_that_does_not_end_is_killed_and_one_that_kills_its_process_is_survived():
    server = Server(limit=2.0)
    try:
        begin = time.monotonic()
        assert "No answer within 2 s" in server.worker.ask("while True:\n    pass\n", "", "0").fault
        assert time.monotonic() - begin < 8.0
        server.worker.limit = 30.0
        assert "died" in server.worker.ask("import os\nos._exit(1)\n", "", "0").fault
        assert server.worker.ask(PROGRAM, "f(0.0, 1)", "0").gradient == "1.0"
    finally:
        server.server_close()


def test_the_page_loads_nothing_from_elsewhere(server):
    reply, page = request(server, "GET", f"/{server.token}/")
    assert reply.status == 200 and "srcgrad, live" in page and "NONCE" not in page
    policy = reply.headers["Content-Security-Policy"]
    nonce = re.search("script-src 'nonce-([^']+)'", policy)[1]
    assert policy.startswith("default-src 'none'") and page.count(f'nonce="{nonce}"') == 2
    assert "://" not in page and reply.headers["Referrer-Policy"] == "no-referrer"
    assert server.token not in page


BODY = json.dumps({"text": PROGRAM, "call": "", "argnums": "0"})


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"path": "/gradient"}, 404),
        ({"path": "/" + "A" * 43 + "/gradient"}, 404),
        ({"path": "/", "method": "GET"}, 404),
        ({"path": "/%C3%A9/gradient"}, 404),
        ({"Host": "rebound.example:80"}, 403),
        ({"Host": "rebound.example"}, 403),
        ({"Origin": "http://elsewhere.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"body": "[" * 20}, 400),
        ({"body": '{"text": 1, "call": "", "argnums": "0"}'}, 400),
        ({"body": '{"text": ""}'}, 400),
        ({"Content_Length": str(LARGEST + 1)}, 413),
        ({"Content_Length": "9" * 5000}, 413),
        ({"Content_Length": "-1"}, 411),
        ({"method": "PUT"}, 501),
    ],
)  # fmt: skip
def test_what_does_not_come_from_the_page_is_refused(server, change, status):
    reply, text = request(server, **{"body": BODY, **change})
    assert reply.status == status and server.token not in text


def test_it_listens_on_the_loopback_address_only(server):
    assert server.socket.getsockname()[0] == "127.0.0.1" and len(server.token) >= 43


def test_the_command_prints_the_address():
    command = [sys.executable, "-m", "srcgrad", "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{43}/\n", process.stdout.readline())
        finally:
            process.terminate()
