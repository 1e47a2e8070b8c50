package bus_test

import (
	"crypto/tls"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/bus/secure"
)

// guarded is a broker that wants TLS and SCRAM, and the configuration of a client with an
// empty file for the authority and a wrong password.
func guarded(t *testing.T) (cfg bus.Config, authority []byte) {
	t.Helper()
	web := httptest.NewTLSServer(http.NotFoundHandler())
	defer web.Close()
	cfg = bus.At()
	fakeCluster(t, &cfg, 1,
		kfake.TLS(&tls.Config{Certificates: web.TLS.Certificates}), //nolint:gosec // a test's broker
		kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "lethe", "right"))
	folder := t.TempDir()
	cfg.DialTimeout = time.Second
	cfg.TLS = secure.TLS{Enabled: true, CAFile: filepath.Join(folder, "ca.crt")}
	cfg.SASL = secure.SASL{
		Mechanism: secure.ScramSHA256, Username: "lethe", PasswordFile: filepath.Join(folder, "password"),
	}
	put := func(path, content string) { require.NoError(t, os.WriteFile(path, []byte(content), 0o600)) }
	put(cfg.TLS.CAFile, "nothing\n")
	put(cfg.SASL.PasswordFile, "wrong\n")
	return cfg, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
}

// Certificates and passwords are read for each connection: a client that waits goes on
// once the files are right, and says until then which of them is not.
func TestWhatIsMendedInFilesWorksAtTheNextConnection(t *testing.T) {
	cfg, authority := guarded(t)
	var w watched
	c, err := bus.OpenPatient(cfg, w.watch)
	require.NoError(t, err)
	defer c.Close()
	written := make(chan error, 1)
	go func() { written <- c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("a", "1", 0)}) }()

	says := func(what string) {
		t.Helper()
		require.Eventually(t, func() bool { return w.told(what) }, 15*time.Second, 10*time.Millisecond, what)
		err := c.Ping(t.Context())
		require.ErrorIs(t, err, bus.ErrRefused)
		require.ErrorContains(t, err, cfg.Brokers[0])
		require.ErrorContains(t, err, what)
		require.False(t, bus.MayPass(err))
	}
	says("kafka.tls.ca_file")
	require.NoError(t, os.WriteFile(cfg.TLS.CAFile, authority, 0o600))
	says("kafka.sasl.password_file")
	require.Empty(t, written)
	require.NoError(t, os.WriteFile(cfg.SASL.PasswordFile, []byte("right\n"), 0o600))
	require.NoError(t, <-written)
	require.NoError(t, c.Ping(t.Context()))
}

// told reports whether something was said of what is waited for.
func (w *watched) told(what string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, said := range w.said {
		if strings.Contains(said, what) {
			return true
		}
	}
	return false
}

// A right that is taken from a running process is waited for; a command does not wait.
func TestADeniedRightIsWaitedForWhileRunning(t *testing.T) {
	cfg := bus.At()
	cluster := fakeCluster(t, &cfg, 1)
	var w watched
	patient := patientClient(t, cfg, &w)
	hasty, err := bus.Open(cfg)
	require.NoError(t, err)
	defer hasty.Close()
	var denied atomic.Bool
	denied.Store(true)
	cluster.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		const notAllowed = 29
		answer := refuse(req, notAllowed)
		return answer, nil, answer != nil && denied.Load()
	})
	for _, err := range []error{
		hasty.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("a", "1", 0)}),
		hasty.ReadAll(t.Context(), bus.Labels, func(ingest.Record) error { return nil }),
	} {
		require.ErrorIs(t, err, bus.ErrDenied)
		require.ErrorContains(t, err, "lethe topics acls")
		require.False(t, bus.MayPass(err))
	}
	done := ask(t, patient)
	require.Eventually(t, func() bool { return w.told("denied by the brokers' ACLs") },
		15*time.Second, 10*time.Millisecond)
	require.Empty(t, done)
	denied.Store(false)
	for range 3 {
		require.NoError(t, <-done)
	}
}

// Whoever asks a deployment with rights for some topics is told of the others, all at once.
func TestRightsAreThoseThatLetheUses(t *testing.T) {
	_, c := open(t, nil)
	require.NoError(t, c.Admin().HasRights(t.Context()))
	var lines []string
	for _, right := range c.Admin().Rights(bus.Principals{
		Producer: "User:p", Compliance: "User:c", Lethe: "User:l", Reader: "User:r",
	}) {
		lines = append(lines, right.String())
		require.NotContains(t, []string{"Create", "Alter", "AlterConfigs", "All", "Delete"}, right.Operation)
	}
	name := c.Name(bus.Transactions)
	require.Contains(t, lines, "User:p: allow Write on topic "+name+" (literal) from every host")
	require.Contains(t, lines, "User:l: allow DescribeConfigs on topic "+name+" (literal) from every host")
	require.NotContains(t, lines, "User:r: allow Read on topic "+name+" (literal) from every host")
	prefix := strings.TrimSuffix(name, string(bus.Transactions))
	require.Contains(t, lines, "User:l: allow Read on group "+prefix+" (prefixed) from every host")
	require.Contains(t, lines, "User:r: allow Read on group "+prefix+"reader (prefixed) from every host",
		"who reads predictions may not join the groups of lethe's processes")
}
