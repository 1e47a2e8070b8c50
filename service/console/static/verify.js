// A receipt checked in the browser: signature, proof of inclusion and the log's signed checkpoint, by
// WebCrypto (Ed25519, SHA-256). The server is asked for nothing but what is checked.

const utf8 = new TextEncoder();
const text = bytes => new TextDecoder().decode(bytes);

const fromBase64 = encoded => Uint8Array.from(atob(encoded), c => c.charCodeAt(0));
const fromBase64url = encoded => fromBase64(encoded.replaceAll('-', '+').replaceAll('_', '/'));
const toBase64url = bytes => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const hex = bytes => [...bytes].map(b => b.toString(16).padStart(2, '0')).join('');
const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);

async function sha256(...parts) {
  const whole = new Uint8Array(parts.reduce((length, p) => length + p.length, 0));
  let at = 0;
  for (const p of parts) { whole.set(p, at); at += p.length; }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', whole));
}

// thumbprint names a key as signatures do (RFC 7638).
export async function thumbprint(key) {
  return toBase64url(await sha256(utf8.encode(`{"crv":"Ed25519","kty":"OKP","x":"${key}"}`)));
}

const verify = async (key, signature, message) => {
  const imported = await crypto.subtle.importKey('raw', fromBase64url(key), { name: 'Ed25519' }, false, ['verify']);
  return crypto.subtle.verify('Ed25519', imported, signature, message);
};

// statement is what a receipt says, whether or not it is signed.
export const statement = document => JSON.parse(text(fromBase64url(document.payload)));

// signedBy returns the first of keys that has signed the receipt, unaltered.
async function signedBy(document, keys) {
  for (const s of document.signatures) {
    const header = JSON.parse(text(fromBase64url(s.protected)));
    const key = keys.find(k => k.key_id === header.kid);
    const known = header.alg === 'EdDSA' && header.typ === 'lethe-receipt.v4+jws' && header.crit === undefined;
    if (key && known && await verify(key.public_key, fromBase64url(s.signature), utf8.encode(`${s.protected}.${document.payload}`))) return key;
  }
  return null;
}

// parseProof reads a proof as text (C2SP tlog-proof).
function parseProof(proof) {
  const end = proof.indexOf('\n\n');
  const [header, extra, index, ...hashes] = proof.slice(0, end).split('\n');
  if (end < 0 || header !== 'c2sp.org/tlog-proof@v1' || !extra.startsWith('extra ') || !/^index \d+$/.test(index)) throw new Error('It is no proof.');
  return {
    leaf: fromBase64(extra.slice('extra '.length)), index: Number(index.slice('index '.length)),
    hashes: hashes.map(fromBase64), checkpoint: proof.slice(end + 2),
  };
}

// parseCheckpoint reads a signed note (C2SP tlog-checkpoint).
function parseCheckpoint(note) {
  const end = note.indexOf('\n\n');
  const [origin, size, root, ...more] = note.slice(0, end).split('\n');
  if (end < 0 || more.length || !/^\d+$/.test(size)) throw new Error('It is no checkpoint.');
  const signatures = note.slice(end + 2).split('\n').filter(Boolean).map(line => {
    const [, name, value] = line.match(/^— (\S+) (\S+)$/) ?? [];
    return { name, value: fromBase64(value ?? '') };
  });
  return { origin, size: Number(size), root: fromBase64(root), body: utf8.encode(note.slice(0, end + 1)), signatures };
}

async function isSigned(checkpoint, key) {
  const raw = fromBase64url(key.public_key);
  const hash = (await sha256(utf8.encode(`${checkpoint.origin}\n`), Uint8Array.of(1), raw)).slice(0, 4);
  for (const s of checkpoint.signatures) {
    if (s.name === checkpoint.origin && same(s.value.slice(0, 4), hash)
      && await verify(key.public_key, s.value.slice(4), checkpoint.body)) return true;
  }
  return false;
}

const signedByOne = async (checkpoint, keys) => {
  for (const key of keys) if (await isSigned(checkpoint, key)) return true;
  return false;
};

// includes follows a proof from a leaf up to the root (RFC 9162, section 2.1.3.2).
export async function includes({ leaf, index, hashes }, { size, root }) {
  if (index >= size) return false;
  let at = index;
  let last = size - 1;
  let hash = await sha256(Uint8Array.of(0), leaf);
  for (const other of hashes) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      hash = await sha256(Uint8Array.of(1), other, hash);
      while (at % 2 === 0 && at !== 0) { at = Math.floor(at / 2); last = Math.floor(last / 2); }
    } else {
      hash = await sha256(Uint8Array.of(1), hash, other);
    }
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && same(hash, root);
}

// check checks everything that can be checked of a receipt. Each finding has a text and whether it
// holds. newest is the log's newest checkpoint with the proof of the same leaf in it, if it is known.
export async function check(document, keys, newest) {
  const findings = [];
  const find = async (what, how) => {
    let ok = false;
    let why = '';
    try { ok = await how(); } catch (failed) { why = failed.message; }
    findings.push({ what, ok: Boolean(ok), why });
    return ok;
  };
  const said = statement(document);
  const signer = await find('The receipt is signed by the key above, and nothing of it was changed', () => signedBy(document, keys));
  let proof = null;
  let signed = null;
  await find('It carries a proof that it is in the transparency log of its deployment', async () => {
    proof = parseProof(document.log);
    signed = parseCheckpoint(proof.checkpoint);
    return signed.origin === `lethe.log/${said.deployment}`;
  });
  await find('The leaf of the proof is of this receipt', async () => {
    const leaf = JSON.parse(text(proof.leaf));
    return leaf.kind === 'receipt' && leaf.body.payload_digest === hex(await sha256(fromBase64url(document.payload)));
  });
  await find('The leaf is in the log of the checkpoint', () => includes(proof, signed));
  await find('The checkpoint is signed by the deployment', () => signedByOne(signed, keys));
  if (newest) {
    await find('The newest checkpoint of the log still has it', async () => {
      const now = parseCheckpoint(newest.checkpoint);
      const again = { leaf: utf8.encode(newest.leaf), index: newest.index, hashes: (newest.hashes ?? []).map(fromBase64) };
      return newest.index === proof.index && same(again.leaf, proof.leaf) && now.origin === signed.origin
        && now.size >= signed.size && await includes(again, now) && signedByOne(now, keys);
    });
  }
  return { findings, valid: findings.every(f => f.ok), signer: signer || null, index: proof?.index, size: signed?.size };
}

// leafIndex is where a receipt says that it stands in the log.
export const leafIndex = document => parseProof(document.log).index;
