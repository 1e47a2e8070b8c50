// Package sso authenticates people by tokens of an OpenID Connect issuer: JSON web tokens that it
// has signed for this deployment's audience, with roles from a claim.
package sso
