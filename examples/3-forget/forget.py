"""Asks lethe to forget a transaction, waits until that is verified and keeps the signed receipt.

The arguments are the address, the name of the request, the transaction's id and a file.
"""
import json
import sys
import time
import urllib.error
import urllib.request

address, name, transaction, file = sys.argv[1:]
address += "/api/v1"


def ask(path, body=None):
    sent = urllib.request.Request(address + path, headers={"Content-Type": "application/json"})
    if body is not None:
        sent.data = json.dumps(body).encode()
    with urllib.request.urlopen(sent) as answer:
        return answer.read()


ask("/erasures", {"request_id": name, "nodes": [transaction]})
state = None
while state != "verified":
    time.sleep(1)
    try:
        state = json.loads(ask(f"/erasures/{name}"))["state"]
    except urllib.error.HTTPError as problem:
        if problem.code != 404:  # it has not come back from the topics yet
            raise
    if state in ("rejected", "failed"):
        sys.exit(state)
with open(file, "wb") as receipt:
    receipt.write(ask(f"/erasures/{name}/receipt"))
print("verified")
