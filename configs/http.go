package configs

import (
	"net"
	"net/netip"

	"lethe/internal/check"
)

// HTTP is the address of the web interface, the API, the metrics and the health checks, and who
// gets in.
type HTTP struct {
	// Address is host:port. By default it is reachable from this machine only.
	Address string `yaml:"address" help:"Address of the web interface, the API, metrics and health checks."`
	// Hosts are the names under which the process may be asked, besides addresses and localhost.
	Hosts []string `yaml:"hosts" help:"Names it may be asked under, besides addresses and localhost; *: any."`
	// TokensFile has the hashes of the tokens that get in. Empty stands for none: who reaches the
	// address may do everything.
	TokensFile string `yaml:"tokens_file" help:"Hashes of the tokens that get in; empty: who reaches the address."`
	// TLS is that of the address.
	TLS HTTPTLS `yaml:"tls"`
	// Insecure allows an address beyond this machine without TLS or without tokens: something else
	// keeps others out.
	Insecure bool `yaml:"insecure" help:"Listen beyond this machine without TLS or without tokens all the same."`
	// RequestsPerSecond bounds how often a client may ask, 0 for no bound.
	RequestsPerSecond int `yaml:"requests_per_second" help:"Requests a client address may make a second; 0: any number."`
}

// HTTPTLS names the files of the certificate that the process shows. Both are empty without TLS.
type HTTPTLS struct {
	CertificateFile string `yaml:"certificate_file" help:"Certificate, and those that signed it, in PEM; empty: no TLS."`
	KeyFile         string `yaml:"key_file" help:"Its private key, in PEM."`
}

// Enabled reports whether the address speaks TLS.
func (t HTTPTLS) Enabled() bool { return t.CertificateFile != "" }

// defaultHTTP lets this machine in alone.
func defaultHTTP() HTTP {
	return HTTP{Address: "127.0.0.1:8080", Hosts: []string{}, RequestsPerSecond: 200}
}

// IsLocal reports whether only this machine reaches what listens at the address.
func (h HTTP) IsLocal() bool {
	host, _, err := net.SplitHostPort(h.Address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	at, err := netip.ParseAddr(host)
	return err == nil && at.Unmap().IsLoopback()
}

func (h HTTP) check(p *check.Problems) {
	p.ListenAddress("http.address", h.Address)
	const mostPerSecond = 1_000_000
	p.Whole("http.requests_per_second", h.RequestsPerSecond, 0, mostPerSecond)
	p.That((h.TLS.CertificateFile == "") == (h.TLS.KeyFile == ""), "http.tls.key_file", h.TLS.KeyFile,
		"a file if http.tls.certificate_file is one, and nothing if not")
	_, _, err := net.SplitHostPort(h.Address)
	if err == nil && !h.IsLocal() && !h.Insecure && (!h.TLS.Enabled() || h.TokensFile == "") {
		p.Bad("http.address", h.Address, "this machine, as 127.0.0.1:8080, unless http.tls.certificate_file and "+
			"http.tokens_file are given, or http.insecure says that something else keeps others out")
	}
}
