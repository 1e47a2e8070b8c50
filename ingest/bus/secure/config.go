package secure

import (
	"slices"

	"lethe/internal/check"
)

// TLS configures the encryption of connections and the trusted authorities.
type TLS struct {
	// Enabled encrypts every connection. The other fields need it.
	Enabled bool `yaml:"enabled" help:"Encrypt connections to brokers."`
	// CAFile holds the authorities, in PEM, that must have issued the brokers' certificates. If
	// empty, those of the operating system are used.
	CAFile string `yaml:"ca_file" help:"Authorities of brokers' certificates, PEM; empty: those of the system."`
	// CertificateFile and KeyFile hold lethe's own certificate with its chain, and its key, in
	// PEM, for brokers that require one.
	CertificateFile string `yaml:"certificate_file" help:"Own certificate for brokers that ask for one, PEM."`
	KeyFile         string `yaml:"key_file" help:"Key of the own certificate, PEM."`
	// ServerName is the name that brokers' certificates must have. If empty, it is the host of the
	// address.
	ServerName string `yaml:"server_name" help:"Name that brokers' certificates must have; empty: the host."`
}

// SASL configures lethe's identity to the brokers.
type SASL struct {
	// Mechanism is one of Mechanisms, or empty for no SASL.
	Mechanism string `yaml:"mechanism" help:"PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER; empty: none."`
	// Username is the user of PLAIN and SCRAM.
	Username string `yaml:"username" help:"User of PLAIN and SCRAM."`
	// PasswordFile holds the password of PLAIN and SCRAM, on one line.
	PasswordFile string `yaml:"password_file" help:"File with the password of PLAIN and SCRAM."`
	// TokenFile holds the token of OAUTHBEARER. Another program has to refresh it.
	TokenFile string `yaml:"token_file" help:"File with the token of OAUTHBEARER, read anew for each connection."`
}

// The mechanisms of SASL.
const (
	Plain       = "PLAIN"
	ScramSHA256 = "SCRAM-SHA-256"
	ScramSHA512 = "SCRAM-SHA-512"
	OAuthBearer = "OAUTHBEARER"
)

// Mechanisms lists the mechanisms of SASL.
func Mechanisms() []string { return []string{Plain, ScramSHA256, ScramSHA512, OAuthBearer} }

// Config configures connections to brokers.
type Config struct {
	TLS  TLS
	SASL SASL
}

// Validate reports all problems at once, under keys that begin with tls or sasl. It reads no file.
func (c Config) Validate() error {
	var p check.Problems
	c.TLS.check(&p)
	c.SASL.check(&p, c.TLS.Enabled)
	return p.Err()
}

func (t TLS) check(p *check.Problems) {
	needs := func(key, value string) {
		p.That(t.Enabled || value == "", key, value, "nothing while kafka.tls.enabled is false")
	}
	needs("tls.ca_file", t.CAFile)
	needs("tls.certificate_file", t.CertificateFile)
	needs("tls.key_file", t.KeyFile)
	needs("tls.server_name", t.ServerName)
	p.That(t.CertificateFile == "" || t.KeyFile != "", "tls.key_file", t.KeyFile,
		"the key of kafka.tls.certificate_file")
	p.That(t.KeyFile == "" || t.CertificateFile != "", "tls.certificate_file", t.CertificateFile,
		"the certificate of kafka.tls.key_file")
}

func (s SASL) check(p *check.Problems, encrypted bool) {
	p.OneOf("sasl.mechanism", s.Mechanism, append(Mechanisms(), "")...)
	if !slices.Contains(Mechanisms(), s.Mechanism) {
		p.That(s.Mechanism != "" || s.Username == "", "sasl.username", s.Username, "nothing without kafka.sasl.mechanism")
		p.That(s.Mechanism != "" || s.PasswordFile == "", "sasl.password_file", s.PasswordFile,
			"nothing without kafka.sasl.mechanism")
		p.That(s.Mechanism != "" || s.TokenFile == "", "sasl.token_file", s.TokenFile,
			"nothing without kafka.sasl.mechanism")
		return
	}
	if s.Mechanism == Plain || s.Mechanism == OAuthBearer {
		p.That(encrypted, "sasl.mechanism", s.Mechanism,
			"SCRAM-SHA-256 or SCRAM-SHA-512 while kafka.tls.enabled is false: it sends the secret as it is")
	}
	if s.Mechanism == OAuthBearer {
		p.That(s.TokenFile != "", "sasl.token_file", s.TokenFile, "the file of the token")
		p.That(s.Username == "", "sasl.username", s.Username, "nothing with %s: the token names the user", OAuthBearer)
		p.That(s.PasswordFile == "", "sasl.password_file", s.PasswordFile, "nothing with %s", OAuthBearer)
		return
	}
	p.That(s.Username != "", "sasl.username", s.Username, "a user")
	p.That(s.PasswordFile != "", "sasl.password_file", s.PasswordFile, "the file of the password")
	p.That(s.TokenFile == "", "sasl.token_file", s.TokenFile, "nothing with %s", s.Mechanism)
}
