package rekey_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/configs"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/requests"
	"lethe/service"
	"lethe/service/rekey"
	"lethe/service/servicetest"
)

// counted is a source of randomness in which no byte follows from the secret before.
type counted struct{ next byte }

func (c *counted) Read(p []byte) (int, error) {
	for i := range p {
		c.next += 7
		p[i] = c.next
	}
	return len(p), nil
}

// rotation of a data directory that has its secret in itself.
func rotation(c configs.Config, told func(string)) rekey.Rotate {
	return rekey.Rotate{
		Config: c, To: c.DataDir + ".rotated", Random: &counted{}, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Progress: func(format string, _ ...any) { told(format) },
	}
}

// rotated is a deployment that goes on in the directory that a rotation has made.
func rotated(t *testing.T, c configs.Config) configs.Config {
	t.Helper()
	out, err := rotation(c, func(string) {}).Run(t.Context())
	require.NoError(t, err)
	c.DataDir = out.New
	return c
}

// Under another secret everything is what a deployment serves that was begun with it and never saw what
// was erased; what was erased stays so, and receipts, log and ledger go on. Cut off anywhere, a rotation
// leaves nothing but the directory as it was.
func TestASecretIsRotated(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a whole deployment anew")
	}
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 50, 43)
	gone := servicetest.LabelledIllicit(stream, 3)[0]
	c := servicetest.OwnSecret(t)
	s := servicetest.Start(t, c)
	s.Replay(stream)
	require.Equal(t, deletions.Verified, s.Erase("before", lethe.ScopeStubs, gone))
	before := s.Await(func(st *service.Status) bool { return st.LagRecords == 0 && st.ReasonsPending == 0 })
	published := []map[string]string{s.Newest(bus.Predictions), s.Newest(bus.Reasons)}
	require.NotEmpty(t, published[1])
	s.Stop()
	old, err := configs.KeysOf(c).Secret(t.Context())
	require.NoError(t, err)
	pinned, err := configs.ReadPublicKey(configs.PublicKeyPath(c.SigningKeyPath()))
	require.NoError(t, err)

	plan, err := rotation(c, func(string) {}).Plan(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, plan.Requests)
	require.Positive(t, plan.Bytes)
	cutOff(t, c, plan)
	c = rotated(t, c)
	require.NoFileExists(t, filepath.Join(c.DataDir, service.RestoringName))
	fresh, err := configs.KeysOf(c).Secret(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, old.Key(), fresh.Key())
	require.Equal(t, old, fresh.Ledger())
	requireNoPseudonymOf(t, c, old, stream.Steps[0].Transactions[0].ID)

	never := servicetest.OwnSecret(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(never.SecretPath()), 0o700))
	key := fresh.Key()
	require.NoError(t, os.WriteFile(never.SecretPath(), []byte(hex.EncodeToString(key[:])), 0o600))
	n := servicetest.Start(t, never)
	want := n.Replay(servicetest.Without(stream, gone))
	n.Stop()

	s = servicetest.Start(t, c)
	now := s.Await(func(st *service.Status) bool {
		return st.EnsembleHash == want.EnsembleHash && st.LagRecords == 0 && st.ReasonsPending == 0
	})
	require.Equal(t, published, []map[string]string{s.Newest(bus.Predictions), s.Newest(bus.Reasons)}, "they stay")
	require.Equal(t, before.Timesteps, now.Timesteps)
	require.Equal(t, before.Transactions, now.Transactions)
	require.NotEqual(t, before.EnsembleHash, now.EnsembleHash, "pseudonyms fix the draws")
	require.Equal(t, before.Deployment, now.Deployment)
	s.ReplayAgain(stream)
	again := lethe.ErasureRequest{RequestID: "after", Targets: lethe.Transactions(gone), Scope: lethe.ScopeStubs}
	submitted, err := requests.Submit(t.Context(), s.Client(), again, time.Now())
	require.NoError(t, err)
	status, err := requests.Wait(t.Context(), s.Client(), submitted, nil)
	require.NoError(t, err)
	require.Equal(t, deletions.OutcomeAlreadyErased, status.Outcomes[0].Outcome)
	require.Equal(t, deletions.Verified, s.StatusOf("before").State, "its status is still there")
	other := servicetest.LabelledIllicit(stream, 2)[0]
	require.Equal(t, deletions.Verified, s.Erase("later", lethe.ScopeStubs, other))
	after := s.Await(func(st *service.Status) bool { return st.LagRecords == 0 })
	require.Equal(t, want.Transactions-1, after.Transactions, "the one that was sent again is not there")
	s.Stop()
	checked, err := audit.CheckLog(t.Context(), audit.LogOptions{
		Config: c, Key: pinned, Receipts: []string{filepath.Join(service.ReceiptsDir(c.DataDir), "before.json")},
	})
	require.NoError(t, err)
	require.Empty(t, checked.Refused)
	servicetest.Audited(t, audit.Options{Config: c, Fresh: true})
}

// cutOff ends a rotation at every stage that it tells of.
func cutOff(t *testing.T, c configs.Config, plan rekey.Plan) {
	t.Helper()
	seen := make(map[string]bool)
	for range 6 {
		ctx, cancel := context.WithCancel(t.Context())
		stage := ""
		_, err := rotation(c, func(told string) {
			if !seen[told] && stage == "" {
				stage, seen[told] = told, true
				unfinished := c
				unfinished.DataDir = plan.New
				_, err := service.New(t.Context(), servicetest.Options(unfinished))
				require.ErrorContains(t, err, "is not whole")
				cancel()
			}
		}).Run(ctx)
		cancel()
		require.ErrorIs(t, err, context.Canceled, stage)
		require.NoDirExists(t, plan.New)
		if strings.HasPrefix(stage, "removing") {
			return
		}
	}
	require.Fail(t, "a stage is never reached")
}

// requireNoPseudonymOf looks for the pseudonym of a transaction under a secret in all that a directory
// holds, in both forms in which one is written.
func requireNoPseudonymOf(t *testing.T, c configs.Config, secret lethe.Secret, id lethe.TransactionID) {
	t.Helper()
	p := secret.Pseudonym(id)
	forms := [][]byte{p[:], []byte(p.String())}
	require.NoError(t, filepath.WalkDir(c.DataDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, form := range forms {
			require.False(t, bytes.Contains(content, form), path)
		}
		return err
	}))
}

// A directory that is not at rest is refused in one line.
func TestASecretIsNotRotatedUnderWay(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 40, 44)
	c := servicetest.OwnSecret(t)
	s := servicetest.Start(t, c)
	s.Replay(stream)
	_, err := rotation(c, func(string) {}).Run(t.Context())
	require.Error(t, err, "it runs")
	s.Stop()

	there := rotation(c, func(string) {})
	there.To = t.TempDir()
	_, err = there.Plan(t.Context())
	require.ErrorIs(t, err, rekey.ErrRefused)
	require.ErrorContains(t, err, "is there: remove it")

	s = servicetest.Start(t, c)
	s.Quiet()
	hold := ingest.Hold{Name: "case", Reason: "case 7", RequestedAt: time.Now(), Subjects: []string{"customer-1"}}
	_, err = requests.SetHold(t.Context(), s.Client(), hold)
	require.NoError(t, err)
	s.Stop()
	_, err = rotation(c, func(string) {}).Plan(t.Context())
	require.ErrorIs(t, err, rekey.ErrRefused)
	require.ErrorContains(t, err, "hold case keeps a subject")

	outside := c
	outside.SecretFile = filepath.Join(t.TempDir(), "secret")
	_, err = rotation(outside, func(string) {}).Plan(t.Context())
	require.ErrorContains(t, err, "secret_file is ")
	kafka := c
	kafka.Kafka.Brokers = []string{"kafka-1:9092"}
	_, err = rotation(kafka, func(string) {}).Plan(t.Context())
	require.ErrorContains(t, err, "built for the embedded broker")
}

// What somebody without the secret has written over an alert does not become the deployment's by a rotation, under
// which codes cannot be checked any more.
func TestARotationPutsForgedResultsRight(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 50, 43)
	c := servicetest.OwnSecret(t)
	s := servicetest.Start(t, c)
	s.Replay(stream)
	before := s.Newest(bus.Predictions)
	require.NotEmpty(t, before)
	forged := []ingest.Outgoing{{Key: []byte("made"), Value: []byte("x")}}
	for key := range before {
		forged = append(forged, ingest.Outgoing{Key: []byte(key), Value: []byte("x")})
		break
	}
	require.NoError(t, s.Forger().Write(t.Context(), bus.Predictions, forged))
	s.Stop()
	c = rotated(t, c)
	s = servicetest.Start(t, c)
	s.Await(func(st *service.Status) bool { return st.EnsembleHash != "" && st.LagRecords == 0 })
	after := s.Newest(bus.Predictions)
	require.NotContains(t, after, "made")
	for key := range before {
		require.NotContains(t, []string{"", "x"}, after[key])
	}
	s.Stop()
	servicetest.Audited(t, audit.Options{Config: c})
}

// A rotation of the secret tells nobody of anything. What was not delivered before is not lost.
func TestARotationPostsNoAlerts(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 60, 43)
	c := servicetest.OwnSecret(t)
	to := servicetest.Alerting(t, &c)
	s := servicetest.Start(t, c)
	s.Replay(stream)
	require.Eventually(t, func() bool { return len(to.Told()) >= 14 }, servicetest.WaitFor, servicetest.Tick)
	s.Stop()
	before := to.Told()
	state, err := os.ReadFile(service.WebhooksPath(c.DataDir))
	require.NoError(t, err)
	c = rotated(t, c)
	require.Equal(t, before, to.Told())
	after, err := os.ReadFile(service.WebhooksPath(c.DataDir))
	require.NoError(t, err)
	require.Equal(t, string(state), string(after))
}
