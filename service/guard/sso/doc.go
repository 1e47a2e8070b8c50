// Package sso lets people in by the tokens of an OpenID Connect issuer: JSON web tokens that it has
// signed for this deployment's audience, with the roles that a claim names.
package sso
