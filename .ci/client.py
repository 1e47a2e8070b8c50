"""Asks a running lethe with the client that was generated from its description: alerts, one with its reasons
and neighbourhood, and an erasure from its plan to its receipt."""

import re
import subprocess
import sys
import time
from pathlib import Path

from lethe_client import Client
from lethe_client.api.erasures import erasure, plan_erasure, receipt, submit_erasure
from lethe_client.api.service import status
from lethe_client.api.timesteps import timesteps
from lethe_client.api.transactions import alerts, neighbourhood, predictions, reasons, transaction
from lethe_client.models import ErasureRequest, PlanRequest

FOLDER = Path(sys.argv[1])
PATIENCE_SECONDS = 240


def until(what, fn):
    """Waits for a condition, and returns what it comes to."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        found = fn()
        if found:
            return found
        time.sleep(0.1)
    sys.exit(f"{what} did not come: {(FOLDER / 'log').read_text()[-4000:]}")


def started():
    return re.search(r"http=(http://\S+) brokers=(\S+)", (FOLDER / "log").read_text())


def main():
    running = until("the service", started)
    client = Client(base_url=running[1] + "/api/v1")
    subprocess.run(
        [FOLDER / "lethe", "replay", "--dataset", FOLDER / "stream", "--brokers", running[2]],
        check=True, stdout=subprocess.DEVNULL,
    )

    def scored():
        page = predictions.sync(client=client, limit=500)
        return page if page and any(p.final for p in page.items) else None

    until("a final prediction", scored)

    def alerted():  # a provisional alert may have no reasons yet, and its final score may be below the threshold
        page = alerts.sync(client=client, limit=500)
        return [a for a in page.items if a.final] if page else None

    top = until("a final alert", alerted)[0]
    found = transaction.sync(top.ref, client=client)
    assert found.ref == top.ref, found
    until("its reasons", lambda: reasons.sync_detailed(top.ref, client=client).status_code == 200)
    around = neighbourhood.sync(top.ref, client=client, distance=2)
    assert any(n.ref == top.ref for n in around.nodes), around
    assert timesteps.sync(client=client, limit=3).items
    assert status.sync(client=client).transactions > 0

    name = top.transaction
    planned = plan_erasure.sync(client=client, body=PlanRequest(nodes=[name]))
    assert planned is not None
    submitted = submit_erasure.sync(client=client, body=ErasureRequest(nodes=[name], reason="Art. 17"))

    def verified():
        said = erasure.sync_detailed(submitted.request_id, client=client)
        return said.status_code == 200 and said.parsed.state == "verified"

    until("the end of the erasure", verified)
    until("the receipt", lambda: receipt.sync_detailed(submitted.request_id, client=client).status_code == 200)
    assert transaction.sync_detailed(top.ref, client=client).status_code == 404
    print("the generated client found an alert, saw why, and had it erased")


main()
