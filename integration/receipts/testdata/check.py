"""Checks a receipt of lethe with PyJWT, jwcrypto and rfc8785.

usage: check.py RECEIPT.json PUBLIC-KEY.pem

Prints a JSON object: what each library found, "ok" or why not, for the signature by this key.
"""

import base64
import json
import sys

import jwt
import rfc8785
from jwcrypto import jwk, jws


def pyjwt(document, pem):
    """PyJWT reads the compact serialization, which is the same with dots."""
    reasons = ["there is no signature"]
    for one in document["signatures"]:
        compact = ".".join([one["protected"], document["payload"], one["signature"]])
        try:
            jwt.PyJWS().decode(compact, key=pem.decode(), algorithms=["EdDSA"])
            return "ok"
        except Exception as refusal:
            reasons.append(f"{type(refusal).__name__}: {refusal}")
    return reasons[-1]


def jwcrypto(text, pem):
    token = jws.JWS()
    try:
        token.deserialize(text)
        token.verify(jwk.JWK.from_pem(pem))
        return "ok"
    except Exception as refusal:
        return f"{type(refusal).__name__}: {refusal}"


def canonical(document):
    """The payload is what another implementation of RFC 8785 makes of what it says."""
    payload = document["payload"]
    text = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    return "ok" if rfc8785.dumps(json.loads(text)) == text else "not in the form of RFC 8785"


def kid(document, pem):
    thumbprint = jwk.JWK.from_pem(pem).thumbprint()
    for one in document["signatures"]:
        header = json.loads(base64.urlsafe_b64decode(one["protected"] + "=" * (-len(one["protected"]) % 4)))
        if header.get("kid") == thumbprint:
            return "ok"
    return "no signature names this key"


def main():
    with open(sys.argv[1], encoding="utf-8") as receipt, open(sys.argv[2], "rb") as key:
        text, pem = receipt.read(), key.read()
    document = json.loads(text)
    print(json.dumps({
        "PyJWT": pyjwt(document, pem), "jwcrypto": jwcrypto(text, pem),
        "rfc8785": canonical(document), "kid": kid(document, pem),
    }))


main()
