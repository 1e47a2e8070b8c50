#!/bin/sh
# Says of a transaction that it was illicit: the address of lethe and the transaction's reference are the arguments.
curl -sSf -o /dev/null -H 'Content-Type: application/json' -d '{"label":"illicit"}' "$1/api/v1/transactions/$2/label"
echo said
