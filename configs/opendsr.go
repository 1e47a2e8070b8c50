package configs

import (
	"time"

	"lethe/internal/check"
)

// OpenDSR serves the request interface of OpenDSR, for privacy tools.
type OpenDSR struct {
	// Domain is the domain of the data processor; if empty, the interface is not served.
	Domain string `yaml:"domain" help:"Domain under which OpenDSR is served; empty: it is not."`
	// CertificateFile and KeyFile sign responses and callbacks.
	CertificateFile string `yaml:"certificate_file" help:"Certificate for it, with those that signed it, in PEM."`
	KeyFile         string `yaml:"key_file" help:"Its private key (RSA or ECDSA), which signs answers, in PEM."`
	// AllowPrivate allows callbacks to private networks, and without TLS.
	AllowPrivate bool `yaml:"allow_private" help:"Call back private networks and this machine too, and without TLS."`
	// Tries is the number of attempts of a callback, FirstWait the wait after the first.
	Tries     int           `yaml:"tries" help:"Tries of a callback before it is given up."`
	FirstWait time.Duration `yaml:"first_wait" help:"Wait after the first try of a callback, doubled after each."`
}

// Enabled reports whether the interface is served.
func (o OpenDSR) Enabled() bool { return o.Domain != "" }

func defaultOpenDSR() OpenDSR { return OpenDSR{Tries: 12, FirstWait: 2 * time.Second} }

// check validates the settings; view reports whether the process has the status of requests.
func (o OpenDSR) check(p *check.Problems, view bool) {
	const mostTries = 1000
	p.Whole("opendsr.tries", o.Tries, 1, mostTries)
	p.Duration("opendsr.first_wait", o.FirstWait, time.Millisecond, time.Hour)
	if !o.Enabled() {
		return
	}
	p.That(o.CertificateFile != "", "opendsr.certificate_file", o.CertificateFile, "a file while opendsr.domain is set")
	p.That(o.KeyFile != "", "opendsr.key_file", o.KeyFile, "a file while opendsr.domain is set")
	p.That(view, "opendsr.domain", o.Domain, "nothing without the role view, which knows where requests stand")
}
