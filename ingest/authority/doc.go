// Package authority defines whose signatures a record needs before lethe acts on it.
//
// Anyone with write access to a topic can write any record there. Where a deployment requires
// it, a control record (close, settle), an erasure request and a command about requests
// (approve, cancel, hold, lift) are accepted only with a signature by a key whose role allows
// it: the header lethe.jws holds JSON web signatures with detached payload (RFC 7515, appendix
// F), by Ed25519, over the record's value. Their protected headers name the key (kid), the full
// name of the topic (aud), the key of the record (sub) and when they were made (iat), so that
// no signature is valid under another name, in another partition or for another deployment.
//
// Keys are public and listed by role in a file. Only that file names the holders of keys: the
// ledger, receipts and logs identify keys by their thumbprints.
package authority
