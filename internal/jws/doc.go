// Package jws signs with Ed25519 and checks signatures, in the form of RFC 7515 that
// programs in other languages read: several signatures of one payload in one JSON object
// (general JSON serialization, section 7.2.1), with the algorithm EdDSA of RFC 8037.
//
// There is one algorithm and no choice: a header that names another is refused. A key is
// named by its thumbprint (RFC 7638) and never brought along, so that nobody is led to trust
// a key because it came with what it signed.
package jws
