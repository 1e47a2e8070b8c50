package registry_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/registry"
	"lethe/ingest/schemas"
)

// A registry gives the schema an id, the same one each time, and records under it are those that
// its serializers would write: they are taken where that id is wanted.
func TestTheSchemaIsRegistered(t *testing.T) {
	fake := srfake.New()
	defer fake.Close()
	fake.SeedSchema("another-value", 1, 41, sr.Schema{Schema: `{"type":"string"}`})
	r := registry.Registry{URL: fake.URL()}
	subject := registry.Subject("lethe.transactions.v1")
	id, err := r.Register(t.Context(), subject)
	require.NoError(t, err)
	again, err := r.Register(t.Context(), subject)
	require.NoError(t, err)
	require.Equal(t, id, again)
	kept, found := fake.GetSchema("lethe.transactions.v1-value", 1)
	require.True(t, found)
	require.Equal(t, sr.TypeProtobuf, kept.Type)
	require.Equal(t, schemas.Transactions, kept.Schema.Schema)
	require.EqualValues(t, id, kept.ID)

	key, value, err := ingest.Protobuf(id).Transaction(lethe.Transaction{ID: "t", Timestep: 1, Features: []float32{1}})
	require.NoError(t, err)
	var header sr.ConfluentHeader
	read, rest, err := header.DecodeID(value)
	require.NoError(t, err)
	require.EqualValues(t, id, read)
	index, _, err := header.DecodeIndex(rest, 5)
	require.NoError(t, err)
	require.Equal(t, []int{0}, index)
	limits := ingest.DefaultLimits()
	limits.SchemaID = int(id)
	_, err = ingest.DecodeTransactions(ingest.Record{Key: key, Value: value}, limits)
	require.NoError(t, err)

	_, value, err = ingest.Protobuf(id).Payment(lethe.Payment{Source: "a", Target: "b", Timestep: 1})
	require.NoError(t, err)
	_, rest, err = header.DecodeID(value)
	require.NoError(t, err)
	index, _, err = header.DecodeIndex(rest, 5)
	require.NoError(t, err)
	require.Equal(t, []int{1}, index)
}

// What a registry refuses, and who is not let in, is said in one line with address and subject.
func TestARegistryThatRefuses(t *testing.T) {
	fake := srfake.New(srfake.WithAuth("Basic " + base64.StdEncoding.EncodeToString([]byte("lethe:secret"))))
	defer fake.Close()
	file := filepath.Join(t.TempDir(), "credentials")
	write := func(content string, mode os.FileMode) {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		require.NoError(t, os.Chmod(file, mode))
	}
	r := registry.Registry{URL: fake.URL(), CredentialsFile: file}
	write("lethe:wrong\n", 0o600)
	_, err := r.Register(t.Context(), "s-value")
	require.ErrorIs(t, err, registry.ErrRefused)
	require.ErrorContains(t, err, "s-value at "+fake.URL())
	require.NotContains(t, err.Error(), "wrong")
	write("lethe:secret\n", 0o644)
	_, err = r.Register(t.Context(), "s-value")
	require.ErrorContains(t, err, "lets everybody read it")
	write("lethe", 0o600)
	_, err = r.Register(t.Context(), "s-value")
	require.ErrorContains(t, err, "USER:PASSWORD")
	write("lethe:secret\n", 0o600)
	_, err = r.Register(t.Context(), "s-value")
	require.NoError(t, err)

	_, err = registry.Registry{URL: "http://127.0.0.1:1"}.Register(t.Context(), "s-value")
	require.ErrorIs(t, err, registry.ErrRefused)
}

// What answers in the place of a registry says no id, or one that ingest.schema_id cannot be: nothing is to be written
// under it.
func TestAnAnswerThatIsNoIDIsRefused(t *testing.T) {
	for _, answer := range []string{`{}`, `null`, `{"id":0}`, `{"id":-5}`, `{"id":2147483648}`, `{"id":"7"}`, `<html>`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, err := w.Write([]byte(answer))
			require.NoError(t, err)
		}))
		_, err := registry.Registry{URL: server.URL}.Register(t.Context(), "s-value")
		require.ErrorIs(t, err, registry.ErrRefused, answer)
		require.ErrorContains(t, err, "s-value at "+server.URL)
		server.Close()
	}
}
