package secure_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus/secure"
)

func TestEverythingWrongIsReportedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		config secure.Config
		want   []string
	}{
		"TLS off": {
			secure.Config{TLS: secure.TLS{CAFile: "a", CertificateFile: "b", ServerName: "d"}},
			[]string{"tls.ca_file", "tls.certificate_file", "tls.server_name", "tls.key_file"},
		},
		"key alone": {
			secure.Config{TLS: secure.TLS{Enabled: true, KeyFile: "k"}}, []string{"the certificate of kafka.tls.key_file"},
		},
		"unknown mechanism": {
			secure.Config{SASL: secure.SASL{Mechanism: "GSSAPI"}},
			[]string{"PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER"},
		},
		"no mechanism": {
			secure.Config{SASL: secure.SASL{Username: "u", PasswordFile: "p", TokenFile: "t"}},
			[]string{"sasl.username", "sasl.password_file", "sasl.token_file"},
		},
		"PLAIN in clear": {
			secure.Config{SASL: secure.SASL{Mechanism: secure.Plain}},
			[]string{"it sends the secret as it is", "a user", "the file of the password"},
		},
		"token and user": {
			secure.Config{TLS: secure.TLS{Enabled: true}, SASL: secure.SASL{Mechanism: secure.OAuthBearer, Username: "u"}},
			[]string{"the file of the token", "the token names the user"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.config.Validate()
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
	require.NoError(t, secure.Config{}.Validate())
	require.NoError(t, secure.Config{
		SASL: secure.SASL{Mechanism: secure.ScramSHA512, Username: "u", PasswordFile: "p"},
	}.Validate(), "SCRAM keeps the password to itself")
}
