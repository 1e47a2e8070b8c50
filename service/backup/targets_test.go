package backup_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/configs"
	"lethe/deletions"
	"lethe/internal/jws"
	"lethe/service"
	"lethe/service/backup"
	"lethe/service/servicetest"
)

// What was erased of a subject, of features and of a payment after a backup was made is erased
// again when it is put back, and what is served then is what was served.
func TestABackupBringsNoOtherTargetBack(t *testing.T) {
	t.Parallel()
	const customer = "customer-17"
	stream := servicetest.SmallStream(t, 3, 50, 61)
	at := func(t lethe.Timestep, i int) *lethe.Transaction { return &servicetest.Step(stream, t).Transactions[i] }
	at(1, 0).Subjects, at(2, 1).Subjects, at(3, 2).Subjects = []string{customer}, []string{customer}, []string{customer}
	paid := servicetest.Step(stream, 3).Payments[0]
	zeroed := at(2, 5)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := servicetest.Start(t, c)
	s.Replay(stream)
	s.Stop()
	path, _ := madeOf(t, c, 24*time.Hour)

	s = servicetest.Start(t, c)
	s.Submit(lethe.ErasureRequest{RequestID: "leaves", Targets: []lethe.Target{lethe.SubjectThrough(customer, 2)}})
	s.Submit(lethe.ErasureRequest{RequestID: "values", Targets: []lethe.Target{
		lethe.FeaturesOf(zeroed.ID, 0, 7), lethe.PaymentBetween(paid.Source, paid.Target),
	}})
	s.Await(servicetest.Verified(2))
	s.Stop()
	was := servicetest.Audited(t, audit.Options{Config: c})

	put, again := restored(t, c, path, c.DataDir)
	require.Positive(t, again.Targets)
	require.Empty(t, again.Held)

	is := servicetest.Audited(t, audit.Options{Config: put, Fresh: true})
	require.Equal(t, was.EnsembleHash, is.EnsembleHash)
	require.Equal(t, was.Transactions, is.Transactions)
	for _, id := range []lethe.TransactionID{at(1, 0).ID, at(2, 1).ID} {
		require.Empty(t, servicetest.Left(t, put.DataDir, servicetest.FormsOf(t, c, stream, id)))
	}
	s = servicetest.Start(t, put)
	s.Await(func(st *service.Status) bool { return st.Erasures[deletions.Verified] == 2+len(again.Requests) })
	plan := s.Plan(service.PlanRequest{Nodes: []string{string(zeroed.ID)}, Export: true})
	require.Len(t, plan.Export, 1)
	for i, value := range plan.Export[0].Features {
		want := zeroed.Features[i]
		if i == 0 || i == 7 {
			want = 0
		}
		require.InDelta(t, want, *value, 0, "feature %d", i)
	}
	require.Equal(t, 1, s.Plan(service.PlanRequest{Nodes: []string{string(at(3, 2).ID)}}).Held, "later than what goes")
	s.Stop()
}

// A backup of another version is refused by its format, whoever signed it.
func TestABackupOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	servicetest.Start(t, c).Stop()
	path, _ := madeOf(t, c, time.Hour)
	key, err := configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), c.SigningKeyPath(), nil)
	require.NoError(t, err)
	later := filepath.Join(t.TempDir(), "later.tar")
	rewriteManifest(t, path, later, func(payload []byte) (string, jws.Signature) {
		text := jws.Encode(bytes.Replace(payload, []byte("lethe-backup/1"), []byte("lethe-backup/2"), 1))
		signature, err := jws.Sign(text, "lethe-backup.v2+jws", key)
		require.NoError(t, err)
		return text, signature
	})
	put := c
	put.DataDir = filepath.Join(t.TempDir(), "new")
	_, err = backup.Restore{Config: put, From: later, Ledger: c.DataDir, Now: time.Now()}.Run()
	require.ErrorIs(t, err, backup.ErrRefused)
	require.ErrorContains(t, err, `it is of another version, "lethe-backup/2", and "lethe-backup/1" is read`)
	require.NotContains(t, err.Error(), "\n")
	require.NoDirExists(t, put.DataDir)
}

// rewriteManifest copies a backup with another manifest.
func rewriteManifest(t *testing.T, from, to string, change func(payload []byte) (string, jws.Signature)) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	var out bytes.Buffer
	reader, writer := tar.NewReader(bytes.NewReader(data)), tar.NewWriter(&out)
	for {
		h, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		content, err := io.ReadAll(reader)
		require.NoError(t, err)
		if h.Name == "manifest.json" {
			var manifest struct {
				Payload    string          `json:"payload"`
				Signatures []jws.Signature `json:"signatures"`
			}
			require.NoError(t, json.Unmarshal(content, &manifest))
			payload, err := jws.Decode(manifest.Payload)
			require.NoError(t, err)
			manifest.Payload, manifest.Signatures[0] = change(payload)
			content, err = json.Marshal(manifest)
			require.NoError(t, err)
			h.Size = int64(len(content))
		}
		require.NoError(t, writer.WriteHeader(h))
		_, err = writer.Write(content)
		require.NoError(t, err)
	}
	require.NoError(t, writer.Close())
	require.NoError(t, os.WriteFile(to, out.Bytes(), 0o600))
}
