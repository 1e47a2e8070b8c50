package service_test

import (
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/residue"
	"lethe/service"
	"lethe/service/rekey"
	"lethe/service/servicetest"
)

// named are records of others that name a transaction: in a header, as a subject, and in a field of no meaning.
func named(t *testing.T, step dataset.Step, gone lethe.TransactionID) (transactions, labels []ingest.Outgoing) {
	t.Helper()
	parent := []ingest.Header{
		{Key: "trace", Value: []byte("a-trace")}, {Key: "parent", Value: []byte(gone)},
	}
	add := func(list *[]ingest.Outgoing, headers []ingest.Header) func(key, value []byte, err error) {
		return func(key, value []byte, err error) {
			require.NoError(t, err)
			*list = append(*list, ingest.Outgoing{Key: key, Value: value, Headers: headers})
		}
	}
	of := func(id lethe.TransactionID, subjects ...string) lethe.Transaction {
		return lethe.Transaction{
			ID: id, Timestep: step.Timestep, Features: step.Transactions[0].Features, Subjects: subjects,
		}
	}
	add(&transactions, parent)(ingest.EncodeTransaction(of("of-another")))
	add(&transactions, nil)(ingest.EncodeTransaction(of("of-a-third", "someone", string(gone))))
	paid := lethe.Payment{Source: "of-another", Target: "of-a-third", Timestep: step.Timestep}
	add(&transactions, parent)(ingest.EncodePayment(paid))
	add(&transactions, nil)([]byte("of-a-third>of-another"), []byte(`{"type":"payment","source":"of-a-third",`+
		`"target":"of-another","timestep":1,"subjects":["someone","`+string(gone)+`"]}`), nil)
	label := lethe.LabelRecord{ID: "of-another", Timestep: step.Timestep, Label: lethe.Illicit}
	add(&labels, parent)(ingest.EncodeLabel(label))
	add(&labels, nil)([]byte("of-a-third"),
		[]byte(`{"type":"label","id":"of-a-third","timestep":1,"label":"licit","note":"`+string(gone)+`"}`), nil)
	return transactions, labels
}

// A record of another transaction that names what is erased stays, without that: the transaction is in graphs and
// models, and so its source is in its topic. A deployment that is made anew of the topics knows the same.
func TestRecordsOfOthersThatNameWhatIsErased_StayWithoutIt(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 40, 41)
	first := stream.Steps[0]
	require.Equal(t, lethe.Timestep(1), first.Timestep)
	gone := stream.Steps[1].Transactions[0].ID
	c := servicetest.OwnSecret(t)
	s := start(t, c)
	transactions, labels := named(t, first, gone)
	require.NoError(t, s.Client().Write(t.Context(), bus.Transactions, transactions))
	require.NoError(t, s.Client().Write(t.Context(), bus.Labels, labels))
	s.Replay(stream)
	require.Equal(t, deletions.Verified, s.Erase("first", lethe.ScopeStubs, gone))
	receipt := servicetest.Receipt(t, c, "first")
	require.Equal(t, 6, receipt.Counts.OfOthers)
	require.Equal(t, recordsOf(stream, gone), receipt.Counts.SourceRecords)

	// The same records come once more.
	require.NoError(t, s.Client().Write(t.Context(), bus.Transactions, transactions))
	require.NoError(t, s.Client().Write(t.Context(), bus.Labels, labels))
	s.Quiet()
	requireClean(s, c.DataDir, []residue.Form{{Name: "id", Bytes: []byte(gone)}})
	before := s.Await(func(st *service.Status) bool { return st.LagRecords == 0 })
	requireWithoutIt(t, s)
	s.Stop()

	made, err := rekey.Rotate{
		Config: c, To: c.DataDir + ".rotated", Random: rand.Reader, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Progress: func(string, ...any) {},
	}.Run(t.Context())
	require.NoError(t, err)
	c.DataDir = made.New
	s = start(t, c)
	s.Await(func(st *service.Status) bool {
		return st.LagRecords == 0 && st.Transactions == before.Transactions && st.Timesteps == before.Timesteps &&
			st.TrainedThrough == before.TrainedThrough
	})
	requireWithoutIt(t, s)
	s.Stop()
	servicetest.Audited(t, audit.Options{Config: c, Fresh: true})
}

// requireWithoutIt looks at the newest records of others in their topics.
func requireWithoutIt(t *testing.T, s *running) {
	t.Helper()
	newest := make(map[string]string)
	for _, topic := range []bus.Topic{bus.Transactions, bus.Labels} {
		require.NoError(t, s.Client().ReadAll(t.Context(), topic, func(rec ingest.Record) error {
			if len(rec.Key) > 2 && string(rec.Key[:3]) == "of-" {
				newest[string(topic)+" "+string(rec.Key)] = string(rec.Value)
				for _, h := range rec.Headers {
					newest[string(topic)+" "+string(rec.Key)+" "+h.Key] = string(h.Value)
				}
			}
			return nil
		}))
	}
	require.Equal(t, `{"type":"label","id":"of-a-third","timestep":1,"label":"licit"}`, newest["labels.v1 of-a-third"])
	require.Equal(t, `{"type":"label","id":"of-another","timestep":1,"label":"illicit"}`, newest["labels.v1 of-another"])
	require.Contains(t, newest["transactions.v1 of-a-third"], `"subjects":["someone"]`)
	require.Contains(t, newest["transactions.v1 of-another"], `"id":"of-another"`)
	require.Equal(t, "a-trace", newest["transactions.v1 of-another trace"])
	require.NotContains(t, newest, "transactions.v1 of-another parent")
	require.Equal(t, `{"type":"payment","source":"of-a-third","target":"of-another","timestep":1,"subjects":["someone"]}`,
		newest["transactions.v1 of-a-third>of-another"])
	require.Contains(t, newest, "transactions.v1 of-another>of-a-third")
}

// A record of somebody else that names something erased in a header, and comes after the
// erasure, is taken, and published again without that: its topic would hold the name for ever.
func TestHeadersThatNameWhatWasErased(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 5, 40, 41)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := lifecycle(t, c, stream)
	gone := stream.Steps[1].Transactions[0].ID
	forms := []residue.Form{{Name: "id", Bytes: []byte(gone)}}
	require.Equal(t, deletions.Verified, s.Erase("first", lethe.ScopeStubs, gone))
	before := s.Quiet()
	key, value, err := ingest.EncodeTransaction(lethe.Transaction{
		ID: "of-another", Timestep: 5, Features: stream.Steps[1].Transactions[1].Features,
	})
	require.NoError(t, err)
	require.NoError(t, s.Client().Write(t.Context(), bus.Transactions, []ingest.Outgoing{{
		Key: key, Value: value, Headers: []ingest.Header{{Key: "parent", Value: []byte(gone)}},
	}}))
	s.Await(func(st *service.Status) bool { return st.LagRecords == 0 && st.Transactions == before.Transactions+1 })
	finish(s, stream)
	require.Equal(t, deletions.Verified, s.Erase("second", lethe.ScopeStubs, stream.Steps[1].Transactions[2].ID))
	requireClean(s, c.DataDir, forms)
	s.Stop()
}

// A record that came after one that is published again stays the newest of its key.
func TestALaterRecordStaysBehindOneThatIsPublishedAgain(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 40, 41)
	gone := stream.Steps[1].Transactions[0].ID
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	require.Equal(t, deletions.Verified, s.Erase("first", lethe.ScopeStubs, gone))
	_, labels := named(t, stream.Steps[0], gone)
	// Many that need be read after the first, so that it is published again behind the last.
	key, value, err := ingest.EncodeLabel(lethe.LabelRecord{ID: "of-another", Timestep: 1, Label: lethe.Licit})
	require.NoError(t, err)
	of, many := key, []ingest.Outgoing{labels[0]}
	for range 20_000 {
		key, value := ingest.EncodeMarker(0)
		many = append(many, ingest.Outgoing{Key: key, Value: value, HashKey: of})
	}
	many = append(many, ingest.Outgoing{Key: key, Value: value})
	require.NoError(t, s.Client().Write(t.Context(), bus.Labels, many))
	newest := func() (value string) {
		require.NoError(t, s.Client().ReadAll(t.Context(), bus.Labels, func(rec ingest.Record) error {
			if string(rec.Key) == string(key) {
				value = string(rec.Value)
			}
			return nil
		}))
		return value
	}
	s.Quiet()
	require.Eventually(t, func() bool { return newest() == string(value) && s.Quiet().LagRecords == 0 },
		30*time.Second, 100*time.Millisecond)
	s.Stop()
}
