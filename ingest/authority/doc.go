// Package authority says whose signatures a record needs before lethe does what it says.
//
// Whoever may write to a topic can write any record there. Where a deployment requires it, a
// control record (close, settle), an erasure request and what is said of requests (approve,
// cancel, hold, lift) count only with a signature by a key whose role allows it: the header
// lethe.jws holds JSON web signatures with detached payload (RFC 7515, appendix F), by Ed25519,
// over the record's value. Their protected headers name the key (kid), the full name of the
// topic (aud), the key of the record (sub) and when they were made (iat), so that none counts
// under another name, in another partition or for another deployment.
//
// Keys are public; a file has them by role. Who holds a key is said there and nowhere else:
// ledger, receipts and logs name keys by their thumbprints.
package authority
