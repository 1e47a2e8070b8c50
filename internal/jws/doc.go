// Package jws signs with Ed25519 and verifies signatures in the form of RFC 7515, which programs
// in other languages read: several signatures of one payload in one JSON object (general JSON
// serialization, section 7.2.1), with the algorithm EdDSA of RFC 8037.
//
// There is only one algorithm: a header with another one is rejected. A key is identified by its
// thumbprint (RFC 7638) and never included, so that no verifier trusts a key because it came with
// the signature.
package jws
