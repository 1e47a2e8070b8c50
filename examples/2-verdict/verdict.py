"""Says of a transaction that it was illicit: the address of lethe and the transaction's reference are the arguments."""
import sys
import urllib.request

address, ref = sys.argv[1:]
said = urllib.request.Request(
    f"{address}/api/v1/transactions/{ref}/label",
    data=b'{"label":"illicit"}',
    headers={"Content-Type": "application/json"},
)
with urllib.request.urlopen(said):
    print("said")
