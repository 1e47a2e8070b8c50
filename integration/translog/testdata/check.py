"""Checks proofs of a transparency log without lethe: RFC 6962 hashing, RFC 9162 proofs, C2SP notes, RFC 8032 signatures.

Nothing but the standard library is used. It reads one JSON document from standard input and prints "ok", or the
statement that does not hold, with exit status 1.
"""
import base64
import hashlib
import json
import sys

# Ed25519 as in RFC 8032, section 6, for checking only.
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(s, p):
    q = (0, 1, 1, 0)
    while s > 0:
        if s & 1:
            q = add(q, p)
        p = add(p, p)
        s >>= 1
    return q


def point(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    if y >= P:
        return None
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P != 0:
        x = x * SQRT_M1 % P
    if (x * x - x2) % P != 0 or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def ed25519(public, message, signature):
    a, r = point(public), point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or a is None or r is None or s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    base = point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    left, right = times(s, base), add(r, times(h, a))
    same = lambda i: (left[i] * right[2] - right[i] * left[2]) % P == 0
    return same(0) and same(1)


def require(holds, statement):
    if not holds:
        print(statement)
        sys.exit(1)


def checkpoint(note, vkey):
    """The size and root of a signed note (C2SP signed-note, tlog-checkpoint)."""
    name, key_id, key = vkey.split("+", 2)
    key = base64.b64decode(key)
    wanted = hashlib.sha256(name.encode() + b"\n" + key).digest()[:4]
    require(key[0] == 1 and wanted.hex() == key_id, "verifier key")
    text, signatures = note.split("\n\n", 1)
    text += "\n"
    origin, size, root = text.splitlines()
    require(origin == name, "origin")
    ok = False
    for line in signatures.splitlines():
        dash, signer, value = line.split(" ")
        value = base64.b64decode(value)
        if dash == "\u2014" and signer == name and value[:4] == wanted:
            ok = ed25519(key[1:], text.encode(), value[4:])
    require(ok, "signature")
    return int(size), base64.b64decode(root)


def leaf_hash(leaf):
    return hashlib.sha256(b"\x00" + leaf).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def tree_hash(leaves):
    """RFC 6962, section 2.1."""
    if len(leaves) == 0:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return leaf_hash(leaves[0])
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return node_hash(tree_hash(leaves[:k]), tree_hash(leaves[k:]))


def included(leaf, index, size, path, root):
    """RFC 9162, section 2.1.3.2."""
    if index >= size:
        return False
    fn, sn, r = index, size - 1, leaf_hash(leaf)
    for p in path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = node_hash(p, r)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node_hash(r, p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and r == root


def consistent(first, first_root, second, second_root, path):
    """RFC 9162, section 2.1.4.2."""
    if first == second:
        return not path and first_root == second_root
    if not 0 < first < second:
        return False
    if first & (first - 1) == 0:
        path = [first_root] + path
    if not path:
        return False
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for c in path[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = node_hash(c, fr), node_hash(c, sr)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node_hash(sr, c)
        fn, sn = fn >> 1, sn >> 1
    return fr == first_root and sr == second_root and sn == 0


def proof(text, vkey):
    """C2SP tlog-proof; the leaf is its extra data. It returns what the proof's checkpoint states, and the leaf."""
    head, note = text.split("\n\n", 1)
    lines = head.splitlines()
    require(lines[0] == "c2sp.org/tlog-proof@v1", "proof")
    leaf = base64.b64decode(lines[1].removeprefix("extra "))
    index = int(lines[2].removeprefix("index "))
    size, root = checkpoint(note, vkey)
    path = [base64.b64decode(line) for line in lines[3:]]
    require(included(leaf, index, size, path, root), "inclusion")
    return size, root, leaf


def main():
    given = json.load(sys.stdin)
    vkey = given["vkey"]
    proofs = [proof(text, vkey) for text in given.get("proofs") or []]
    if given.get("payload_digest"):
        said = json.loads(proofs[0][2])
        require(said["kind"] == "receipt" and said["body"]["payload_digest"] == given["payload_digest"], "receipt")
    for c in given.get("consistency") or []:
        (first, first_root), (second, second_root) = checkpoint(c["older"], vkey), checkpoint(c["newer"], vkey)
        path = [base64.b64decode(h) for h in c["hashes"] or []]
        require(consistent(first, first_root, second, second_root, path), "consistency")
    if given.get("checkpoint"):
        size, root = checkpoint(given["checkpoint"], vkey)
        leaves = [leaf.encode() for leaf in given["leaves"]]
        require(len(leaves) == size and tree_hash(leaves) == root, "tree")
        # A proof of a log that went another way is signed by the same key.
        for of, root, _ in proofs:
            require(of <= size and tree_hash(leaves[:of]) == root, "consistency")
    print("ok")


main()
