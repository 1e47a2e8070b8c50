#!/usr/bin/env python3
"""A sink for lethe's webhooks: opens a case for every alert, once, in a SQLite file.

It stands for a case-management system, needs nothing but Python 3 and shows what a receiver has to do:
check the signature before anything else (Standard Webhooks 1.0), refuse what is old, take an alert that
comes again without opening a second case, and answer soon.

    receiver.py --secret-file webhook.secret --cases cases.db --port 8090

The secret is the file that lethe has as webhooks.secret_file. Errors of the receiver itself are answered
with 500, so that lethe sends the alert again; what is not lethe's with 401, and not recorded.
"""

import argparse
import base64
import hashlib
import hmac
import json
import sqlite3
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
MOST_BYTES = 64 * 1024


def verify(secret: bytes, headers, body: bytes, now: float) -> bool:
    """Whether lethe has signed a delivery within the last minutes."""
    try:
        sent = int(headers["webhook-timestamp"])
    except (TypeError, ValueError):
        return False
    if abs(now - sent) > TOLERANCE_SECONDS:
        return False
    signed = f"{headers['webhook-id']}.{sent}.".encode() + body
    expected = base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
    given = (headers["webhook-signature"] or "").split()
    return any(hmac.compare_digest(one, "v1," + expected) for one in given)


class Cases:
    """The cases, by the id under which an alert is delivered."""

    def __init__(self, path: str):
        self.path = path
        with self.connect() as db:
            db.execute(
                "CREATE TABLE IF NOT EXISTS cases (delivery TEXT PRIMARY KEY, txn TEXT NOT NULL, timestep INTEGER NOT NULL,"
                " probability REAL NOT NULL, opened_at TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open')"
            )

    def connect(self):
        return sqlite3.connect(self.path, timeout=10)

    def open(self, delivery: str, alert: dict) -> None:
        data = alert["data"]
        row = (delivery, data["transaction"], data["timestep"], data["probability"], alert["timestamp"])
        with self.connect() as db:
            db.execute(
                "INSERT INTO cases (delivery, txn, timestep, probability, opened_at) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (delivery) DO NOTHING",
                row,
            )


def handler(secret: bytes, cases: Cases):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers.get("content-length") or 0)
            if length > MOST_BYTES:
                return self.answer(413)
            body = self.rfile.read(length)
            if not verify(secret, self.headers, body, time.time()):
                return self.answer(401)
            try:
                alert = json.loads(body)
                if alert["type"] == "alert":  # other types may come
                    cases.open(self.headers["webhook-id"], alert)
            except sqlite3.Error:
                return self.answer(500)
            except (ValueError, KeyError, TypeError):
                return self.answer(400)
            self.answer(204)

        def answer(self, status: int) -> None:
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *args) -> None:
            pass  # what is logged would outlive the case

    return Handler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--secret-file", required=True)
    parser.add_argument("--cases", default="cases.db")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8090)
    args = parser.parse_args()
    with open(args.secret_file, encoding="ascii") as file:
        secret = base64.b64decode(file.read().strip().removeprefix("whsec_"))
    server = ThreadingHTTPServer((args.host, args.port), handler(secret, Cases(args.cases)))
    print(f"listening on {server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
