package sso

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"lethe/service/guard"
)

// Options configures the accepted tokens.
type Options struct {
	// Issuer is the address of the issuer, as in the claim iss. Audience must be in aud.
	Issuer, Audience string
	// RolesClaim names the claim with a person's roles, with a dot before a nested field:
	// realm_access.roles.
	RolesClaim string
	// Roles are VALUE=ROLE: a person with the value in that claim has the role of lethe.
	Roles []string
	// CAFile has the authorities of the issuer's certificate; empty for those of the system.
	CAFile string
	// Now is the clock.
	Now func() time.Time
}

const (
	// askTimeout bounds a request to the issuer.
	askTimeout = 10 * time.Second
	// again is the wait before an unreachable issuer is queried again.
	again = 5 * time.Second
)

// algorithms lists the signature algorithms with which only the issuer can sign: with "none" anyone
// can, and with a shared secret every verifier can.
func algorithms() []string {
	return []string{
		oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512,
		oidc.EdDSA,
	}
}

// Verifier checks tokens. It is safe for concurrent use.
type Verifier struct {
	o      Options
	client *http.Client
	rights map[string]guard.Right

	mu      sync.Mutex
	checks  *oidc.IDTokenVerifier
	failed  error
	askedAt time.Time
}

// New returns a verifier. It contacts the issuer when the first token arrives, so an unreachable
// issuer does not prevent the start. The error is about the options.
func New(o Options) (*Verifier, error) {
	v := &Verifier{o: o, rights: make(map[string]guard.Right)}
	for _, mapping := range o.Roles {
		value, role, found := strings.Cut(mapping, "=")
		right, err := guard.RightsOf(role)
		if !found || value == "" || err != nil {
			return nil, fmt.Errorf("http.oidc.roles: %.80q is no VALUE=ROLE with a role of %s", mapping,
				strings.Join(guard.Roles(), ", "))
		}
		v.rights[value] |= right
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if o.CAFile != "" {
		text, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("http.oidc.ca_file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("http.oidc.ca_file %s: no certificate is in it", o.CAFile)
		}
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	}
	v.client = &http.Client{Transport: transport, Timeout: askTimeout}
	return v, nil
}

// Verify implements guard.Verifier.
func (v *Verifier) Verify(ctx context.Context, token string) (guard.Person, error) {
	checks, err := v.ready()
	if err != nil {
		return guard.Person{}, fmt.Errorf("%w: %w", guard.ErrAway, err)
	}
	read, err := checks.Verify(oidc.ClientContext(ctx, v.client), token)
	var expired *oidc.TokenExpiredError
	switch {
	case errors.As(err, &expired):
		return guard.Person{}, guard.ErrExpired
	case err != nil && strings.Contains(err.Error(), errSeldom.Error()):
		return guard.Person{}, guard.ErrSeldom
	case err != nil && strings.Contains(err.Error(), errAway.Error()):
		return guard.Person{}, guard.ErrAway
	case err != nil:
		return guard.Person{}, guard.ErrUnknown
	}
	var claims map[string]any
	if err := read.Claims(&claims); err != nil {
		return guard.Person{}, guard.ErrUnknown
	}
	p := guard.Person{Name: read.Subject, Expires: read.Expiry}
	for _, value := range valuesOf(claims, v.o.RolesClaim) {
		p.Rights |= v.rights[value]
	}
	return p, nil
}

// ready fetches the issuer's keys on first use.
func (v *Verifier) ready() (*oidc.IDTokenVerifier, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.o.Now()
	if v.checks != nil || v.failed != nil && now.Sub(v.askedAt) < again && !now.Before(v.askedAt) {
		return v.checks, v.failed
	}
	// The keys are fetched again later, so the context is not that of a request.
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, v.client), v.o.Issuer)
	v.askedAt, v.failed = now, err
	if err != nil {
		return nil, err
	}
	keys := &http.Client{Transport: &seldom{next: v.client.Transport, now: v.o.Now}, Timeout: askTimeout}
	v.checks = provider.VerifierContext(oidc.ClientContext(context.Background(), keys), &oidc.Config{
		ClientID: v.o.Audience, SupportedSigningAlgs: algorithms(), Now: v.o.Now,
	})
	return v.checks, nil
}

// valuesOf returns the texts of a claim, which is a string or a list of strings.
func valuesOf(claims map[string]any, path string) (out []string) {
	var at any = claims
	for name := range strings.SplitSeq(path, ".") {
		object, is := at.(map[string]any)
		if !is {
			return nil
		}
		at = object[name]
	}
	switch value := at.(type) {
	case string:
		return strings.Fields(value)
	case []any:
		for _, item := range value {
			if text, is := item.(string); is {
				out = append(out, text)
			}
		}
	}
	return out
}
