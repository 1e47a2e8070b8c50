#!/bin/sh
# Asks lethe to forget a transaction, waits until that is verified and keeps the signed receipt.
# The arguments are the address, the name of the request, the transaction's id and a file.
set -e
api="$1/api/v1"
curl -sSf -o /dev/null -H 'Content-Type: application/json' -d "{\"request_id\":\"$2\",\"nodes\":[\"$3\"]}" "$api/erasures"
until curl -s "$api/erasures/$2" | grep -q '"state":"verified"'; do
    if curl -s "$api/erasures/$2" | grep -E '"state":"(rejected|failed)"'; then exit 1; fi
    sleep 1
done
curl -sSf -o "$4" "$api/erasures/$2/receipt"
echo verified
