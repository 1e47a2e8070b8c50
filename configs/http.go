package configs

import (
	"fmt"
	"net"
	"strings"

	"lethe/internal/check"
)

// HTTP configures the address of the web interface, the API, the metrics and the health checks, and
// the access to them.
type HTTP struct {
	// Address is host:port. By default it is reachable only from this machine.
	Address string `yaml:"address" help:"Address of the web interface, the API, metrics and health checks."`
	// Hosts are the allowed host names, besides addresses and localhost.
	Hosts []string `yaml:"hosts" help:"Names it may be asked under, besides addresses and localhost; *: any."`
	// TokensFile has the hashes of the accepted tokens. If empty, no token is needed: everyone who
	// can reach the address has all rights.
	TokensFile string `yaml:"tokens_file" help:"Hashes of the accepted tokens; empty: none is needed."`
	// OIDC accepts tokens of an OpenID Connect issuer, in addition to those of TokensFile.
	OIDC OIDC `yaml:"oidc"`
	// TLS configures TLS for the address.
	TLS HTTPTLS `yaml:"tls"`
	// Insecure allows an address beyond this machine without TLS, if a proxy encrypts.
	Insecure bool `yaml:"insecure" help:"Listen beyond this machine without TLS."`
	// WithoutLogin allows an address beyond this machine without tokens, if a proxy restricts access.
	WithoutLogin bool `yaml:"without_login" help:"Listen beyond this machine without a login."`
	// MetricsLogin requires a token for metrics, too: from their counts a producer can tell whether an id was
	// erased.
	MetricsLogin bool `yaml:"metrics_login" help:"Metrics need a token, too, of any role."`
	// RequestsPerSecond limits the requests of a client, 0 means no limit.
	RequestsPerSecond int `yaml:"requests_per_second" help:"Requests a client address may make a second; 0: any number."`
}

// HTTPTLS names the files of the server certificate. Both are empty without TLS.
type HTTPTLS struct {
	CertificateFile string `yaml:"certificate_file" help:"Certificate, and those that signed it, in PEM; empty: no TLS."`
	KeyFile         string `yaml:"key_file" help:"Its private key, in PEM."`
}

// Enabled reports whether the address uses TLS.
func (t HTTPTLS) Enabled() bool { return t.CertificateFile != "" }

// defaultHTTP allows only access from this machine.
func defaultHTTP() HTTP {
	return HTTP{Address: "127.0.0.1:8080", Hosts: []string{}, OIDC: defaultOIDC(), RequestsPerSecond: 200}
}

// IsLocal reports whether the address is reachable only from this machine.
func (h HTTP) IsLocal() bool {
	_, _, err := net.SplitHostPort(h.Address)
	return err == nil && check.IsLoopback(h.Address)
}

func (h HTTP) check(p *check.Problems) {
	p.ListenAddress("http.address", h.Address)
	const mostPerSecond = 1_000_000
	p.Whole("http.requests_per_second", h.RequestsPerSecond, 0, mostPerSecond)
	p.That((h.TLS.CertificateFile == "") == (h.TLS.KeyFile == ""), "http.tls.key_file", h.TLS.KeyFile,
		"a file if http.tls.certificate_file is one, and nothing if not")
	p.That(!h.MetricsLogin || h.TokensFile != "" || h.OIDC.Enabled(), "http.metrics_login", h.MetricsLogin,
		"false, unless http.tokens_file or http.oidc.issuer lets people in")
	h.OIDC.check(p)
	_, _, err := net.SplitHostPort(h.Address)
	if err == nil && !h.IsLocal() && !h.Insecure && !h.TLS.Enabled() {
		p.Bad("http.address", h.Address, "this machine, as 127.0.0.1:8080, unless http.tls.certificate_file is given, "+
			"or http.insecure says that something else encrypts")
	}
}

// CheckLogin rejects an address beyond this machine without authentication. It is not part of Validate:
// commands that serve nothing use a service's configuration too.
func (h HTTP) CheckLogin() error {
	if h.IsLocal() || h.WithoutLogin || h.TokensFile != "" || h.OIDC.Enabled() {
		return nil
	}
	return fmt.Errorf("http.address %s is reachable from other machines, and anybody there could read and erase: give "+
		"http.tokens_file (lethe tokens generate writes it) or http.oidc.issuer, or listen on 127.0.0.1; "+
		"http.without_login=true where something else keeps others out", h.Address)
}

// OIDC configures the OpenID Connect issuer whose tokens are accepted, and the roles that they
// give.
type OIDC struct {
	// Issuer is the value of the claim iss; empty for none.
	Issuer string `yaml:"issuer" help:"OpenID Connect issuer whose tokens get in, as in their claim iss; empty: none."`
	// Audience must be in the claim aud.
	Audience string `yaml:"audience" help:"Audience that its tokens must be for (aud)."`
	// RolesClaim names the claim with a person's roles.
	RolesClaim string `yaml:"roles_claim" help:"Claim with a person's roles, such as realm_access.roles."`
	// Roles are entries VALUE=ROLE.
	Roles []string `yaml:"roles" help:"VALUE=ROLE: a value of that claim, and the role that it gives."`
	// CAFile has the authorities of the issuer's certificate.
	CAFile string `yaml:"ca_file" help:"Authorities of the issuer's certificate, in PEM; empty: those of the system."`
}

// Enabled reports whether there is an issuer.
func (o OIDC) Enabled() bool { return o.Issuer != "" }

func defaultOIDC() OIDC { return OIDC{RolesClaim: "roles", Roles: []string{}} }

func (o OIDC) check(p *check.Problems) {
	if !o.Enabled() {
		return
	}
	_, secure := check.WebAddress(o.Issuer, "https")
	if at, open := check.WebAddress(o.Issuer, "http"); open {
		secure = check.IsLoopback(at)
	}
	p.That(secure, "http.oidc.issuer", o.Issuer,
		"https://host, or http:// of this machine: an attacker in between could issue tokens")
	p.That(o.Audience != "", "http.oidc.audience", o.Audience,
		"a text while http.oidc.issuer is set: without one, tokens for anybody get in")
	p.That(o.RolesClaim != "", "http.oidc.roles_claim", o.RolesClaim, "the name of a claim")
	p.That(len(o.Roles) > 0, "http.oidc.roles", o.Roles, "at least one VALUE=ROLE: nobody could do anything")
	for _, mapping := range o.Roles {
		value, role, found := strings.Cut(mapping, "=")
		p.That(found && value != "" && role != "", "http.oidc.roles", mapping, "VALUE=ROLE")
	}
}
