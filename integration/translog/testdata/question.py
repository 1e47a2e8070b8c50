"""Writes the question that check.py reads: question.py RECEIPT LOG PUBLIC_KEY | check.py

LOG is what lethe log show --json prints, PUBLIC_KEY the PEM file that the operator has handed over. Nothing but the
standard library is used.
"""
import base64
import hashlib
import json
import sys

receipt, log, pem = (open(name, encoding="utf-8").read() for name in sys.argv[1:])
receipt, log = json.loads(receipt), json.loads(log)
payload = base64.urlsafe_b64decode(receipt["payload"] + "=" * (-len(receipt["payload"]) % 4))
name = log["checkpoint"].splitlines()[0]
# The last 32 bytes of the first PEM block, behind the number of the kind of key (C2SP signed-note).
key = b"\x01" + base64.b64decode("".join(pem.split("-----")[2].split()))[-32:]
number = hashlib.sha256(name.encode() + b"\n" + key).hexdigest()[:8]
print(json.dumps({
    "vkey": f"{name}+{number}+{base64.b64encode(key).decode()}",
    "proofs": [receipt["log"]],
    "payload_digest": hashlib.sha256(payload).hexdigest(),
    "leaves": [json.dumps(leaf, separators=(",", ":"), ensure_ascii=False) for leaf in log["leaves"]],
    "checkpoint": log["checkpoint"],
}))
