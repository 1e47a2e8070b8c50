package kafka_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/ingest/bus"
	"lethe/integration/process"
)

// as is the deployment as a user sees it, who comes by SCRAM over TLS.
func (d *deployment) as(user string) *deployment {
	d.t.Helper()
	if outside.sasl == "" {
		d.t.Skip("no Kafka with SASL: run make kafka-test")
	}
	other := *d
	other.brokers = outside.sasl
	other.access = tlsFlags("kafka.sasl.mechanism=SCRAM-SHA-512", "kafka.sasl.username="+user,
		"kafka.sasl.password_file="+secretFile(d.t, user+"-secret"))
	return &other
}

// tlsFlags are flags for TLS under the test's authority, and for further settings.
func tlsFlags(settings ...string) []string {
	var out []string
	for _, s := range append([]string{
		"kafka.tls.enabled=true", "kafka.tls.ca_file=" + filepath.Join(outside.certificates, "ca.crt"),
	}, settings...) {
		out = append(out, "--set", s)
	}
	return out
}

func secretFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte(content+"\n"), 0o600))
	return path
}

// config is how a client in this process finds the deployment.
func (d *deployment) config() bus.Config {
	d.t.Helper()
	overrides := map[string]any{"kafka.brokers": d.brokers, "kafka.topic_prefix": d.prefix}
	for _, s := range d.access {
		if key, value, is := strings.Cut(s, "="); is {
			overrides[key] = value
		}
	}
	c, err := configs.Load(configs.LoadOptions{Overrides: overrides})
	require.NoError(d.t, err)
	return c.Kafka
}

// prepare makes the topics and gives the four principals their rights, as an operator does
// who may do everything.
func (d *deployment) prepare() {
	d.t.Helper()
	applied := d.topics("apply")
	require.Zero(d.t, applied.Code, applied.Stderr)
	granted := d.topics("acls", "--apply")
	require.Zero(d.t, granted.Code, granted.Stderr)
}

// Over TLS, with principals that have only the rights that lethe lists, a stream ends as
// it does on the embedded broker, before and after an erasure.
func secured(t *testing.T, l *lab, erased lethe.TransactionID, before, after outcome) {
	d := l.outside(t)
	d.prepare()
	dir := filepath.Join(t.TempDir(), "data")
	s := d.as("lethe").process(dir, process.FreePorts(t), "")
	replayed := process.Run(t, l.bin, d.as("producer").client("replay", "--dataset", l.dataset())...)
	require.Zero(t, replayed.Code, replayed.Stderr)
	require.Equal(t, before.hash, s.Await("the end of the stream", trained).EnsembleHash)
	equalPredictions(t, before.predictions, d.as("reader").predictions())

	verified(t, d.as("compliance").erase("secured", string(erased)), s)
	require.Equal(t, after.hash, s.Await("a status", trained).EnsembleHash)
	equalPredictions(t, after.predictions, d.as("reader").predictions())
	require.Zero(t, s.Stop(), s.Log())
	d.checkReceipt(dir, "secured")

	// The right to read predictions is none to ask for erasures: the statuses, read first, are refused already.
	refused := process.Run(t, l.bin, d.as("reader").client("erase", "submit", "--node", "x", "--request-id", "r")...)
	requireRefusal(t, refused, "erasure-status.v1", "denied by the brokers' ACLs", "kafka.sasl.username")
}

func tokenFlags(t *testing.T, token string) []string {
	t.Helper()
	return tlsFlags("kafka.sasl.mechanism=OAUTHBEARER", "kafka.sasl.token_file="+secretFile(t, token))
}

// unsignedToken is a token as the tests' broker takes it.
func unsignedToken(user string) string {
	now := time.Now().Unix()
	claims := fmt.Sprintf(`{"sub":%q,"iat":%d,"exp":%d}`, user, now, now+600)
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none"}`)) + "." + encode([]byte(claims)) + "."
}

// requireRefusal wants one line that holds all of it, and exit status 1.
func requireRefusal(t *testing.T, r process.Result, holds ...string) {
	t.Helper()
	require.Equal(t, 1, r.Code, r.Stderr)
	require.Len(t, strings.Split(strings.TrimSpace(r.Stderr), "\n"), 1, r.Stderr)
	for _, want := range holds {
		require.Contains(t, r.Stderr, want)
	}
}

// What a start cannot pass ends it, in one line that names broker and setting.
func TestAStartThatIsRefusedSaysWhereToLook(t *testing.T) {
	d := newLab(t).outside(t)
	d.as("lethe") // skips without SASL
	certificate := func(name string) []string {
		file := filepath.Join(outside.certificates, name)
		return tlsFlags("kafka.tls.certificate_file="+file+".crt", "kafka.tls.key_file="+file+".key")
	}
	login := func(mechanism, user, password string) []string {
		return tlsFlags("kafka.sasl.mechanism="+mechanism, "kafka.sasl.username="+user,
			"kafka.sasl.password_file="+secretFile(t, password))
	}
	for name, c := range map[string]struct {
		broker  string
		access  []string
		setting string
	}{
		"wrong password":         {outside.sasl, login("SCRAM-SHA-256", "lethe", "guess"), "look at kafka.sasl.username"},
		"wrong plain password":   {outside.sasl, login("PLAIN", "lethe", "guess"), "kafka.sasl.password_file"},
		"junk for a token":       {outside.sasl, tokenFlags(t, "junk"), "look at kafka.sasl.token_file"},
		"no SASL":                {outside.sasl, tlsFlags(), "look at kafka.sasl.mechanism"},
		"expired certificate":    {outside.expired, tlsFlags(), "ssl.keystore.location of the broker"},
		"unknown authority":      {outside.mutual, []string{"--set", "kafka.tls.enabled=true"}, "look at kafka.tls.ca_file"},
		"another name":           {outside.sasl, tlsFlags("kafka.tls.server_name=b"), "look at kafka.tls.server_name"},
		"no certificate":         {outside.mutual, tlsFlags(), "look at kafka.tls.certificate_file"},
		"foreign certificate":    {outside.mutual, certificate("stranger"), "look at kafka.tls.certificate_file"},
		"own expired":            {outside.mutual, certificate("expired"), "lethe's certificate expired at "},
		"plain text on TLS port": {outside.mutual, nil, "look at kafka.tls.enabled"},
		"TLS on plain text port": {d.lab.brokers, tlsFlags(), "look at kafka.tls.enabled"},
		"denied": {
			outside.sasl, login("SCRAM-SHA-512", "producer", "producer-secret"), "kafka.sasl.username",
		},
		"denied plain":       {outside.sasl, login("PLAIN", "lethe", "lethe-secret"), "denied by the brokers' ACLs"},
		"denied token":       {outside.sasl, tokenFlags(t, unsignedToken("lethe")), "denied by the brokers' ACLs"},
		"denied certificate": {outside.mutual, certificate("lethe"), "denied by the brokers' ACLs"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{
				"run", "--data-dir", filepath.Join(t.TempDir(), "data"), "--brokers", c.broker,
				"--http-address", "127.0.0.1:0", "--set", "kafka.topic_prefix=" + d.prefix,
			}, c.access...)
			requireRefusal(t, process.Run(t, d.bin, args...), c.broker, c.setting)
		})
	}
}
