package silence_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/integration/process"
	"lethe/service/waiting"
)

// run runs a command on the deployment's brokers.
func (d *deployment) run(args ...string) process.Result {
	d.t.Helper()
	out := process.Run(d.t, d.bin, append(args, "--brokers", d.Brokers)...)
	require.Zero(d.t, out.Code, out.Stderr)
	return out
}

// erasureStops are those of requests.
func erasureStops() []stop {
	return []stop{
		{"an erasure that waits for a hold", waiting.ErasureHeld, "wait for a hold", false, func(d *deployment) func() {
			d.run("hold", "set", "--node", string(d.id(1)), "--name", "case-7", "--reason", "case 7")
			d.run("erase", "submit", "--node", string(d.id(1)), "--request-id", "held")
			return func() { d.run("hold", "lift", "case-7") }
		}},
		{"an erasure whose search finds a copy", waiting.ErasureFailed, "have failed", false, func(d *deployment) func() {
			path := filepath.Join(d.dir, "score", "copy")
			require.NoError(d.t, os.WriteFile(path, []byte(`{"id":"`+string(d.id(3))+`"}`), 0o600))
			d.run("erase", "submit", "--node", string(d.id(3)), "--request-id", "copied")
			return func() { require.NoError(d.t, os.Remove(path)) }
		}},
		{"requests that cannot be read", waiting.RecordsRejected, "of erasures.v1 were rejected", false,
			func(d *deployment) func() {
				for range 6 {
					d.send(record(erasures, 0, []byte("gdpr-1"), []byte(`{"type":"erasure","request_id":"gdpr-1"}`)))
				}
				return func() {
					for n := range 6 {
						d.run("erase", "submit", "--node", fmt.Sprint("absent-", n), "--request-id", fmt.Sprint("good-", n))
					}
				}
			}},
	}
}

// signers are two people of compliance.
type signers struct{ keys, anna, bert string }

func newSigners(t *testing.T, bin string) signers {
	t.Helper()
	dir := t.TempDir()
	s := signers{filepath.Join(dir, "keys"), filepath.Join(dir, "anna.pem"), filepath.Join(dir, "bert.pem")}
	lines := ""
	for holder, path := range map[string]string{"anna": s.anna, "bert": s.bert} {
		out := process.Run(t, bin, "keys", "generate", "--role", "compliance", "--holder", holder, "--out", path)
		require.Zero(t, out.Code, out.Stderr)
		lines += out.Stdout
	}
	require.NoError(t, os.WriteFile(s.keys, []byte(lines), 0o600))
	return s
}

// signedStops are those where two people must sign.
func signedStops(s signers) []stop {
	return []stop{
		{"an erasure that waits for a second signature", waiting.ErasureHeld, "wait for another signature", false,
			func(d *deployment) func() {
				d.run("erase", "submit", "--node", string(d.id(1)), "--request-id", "signed", "--sign", s.anna)
				return func() { d.run("erase", "approve", "signed", "--sign", s.bert) }
			}},
	}
}
