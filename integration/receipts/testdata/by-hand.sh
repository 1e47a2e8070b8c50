#!/usr/bin/env bash
# Checks a receipt with openssl, jq and coreutils alone: by-hand.sh RECEIPT PUBLIC_KEY. It prints
# what docs/receipts.md says, or ends with another status than 0.
set -euo pipefail
receipt="$1" key="$2" folder="$(mktemp -d)"
trap 'rm -r "$folder"' EXIT

# The signature is over the first protected header and the payload, as they stand there.
jq -j '.signatures[0].protected + "." + .payload' "$receipt" > "$folder/signed"
jq -j '(.signatures[0].signature | gsub("-";"+") | gsub("_";"/")) + "=="' "$receipt" | base64 -d > "$folder/signature"
openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in "$folder/signed" -sigfile "$folder/signature"

# The leaf that the proof is of has the digest of the payload.
jq -j '.payload | gsub("-";"+") | gsub("_";"/") | @base64d' "$receipt" > "$folder/payload.json"
leaf="$(jq -r .log "$receipt" | sed -n 's/^extra //p' | base64 -d | jq -r .body.payload_digest)"
same() { [ "$2" = "$3" ] || { echo "not so: $1"; exit 1; }; echo "$1"; }
same "the leaf is of this receipt" "$leaf" "$(sha256sum < "$folder/payload.json" | cut -d' ' -f1)"

# The version of the ensemble is the hash of its checkpoints' digests.
for side in before after; do
  hash="$(jq -j ".checkpoints.${side}[]" "$folder/payload.json" | tr a-f A-F | basenc --base16 -d | sha256sum | cut -d' ' -f1)"
  same "the checkpoints $side are the ensemble's" "$hash" "$(jq -r ".ensemble_$side" "$folder/payload.json")"
done
