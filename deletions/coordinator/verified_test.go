package coordinator

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// untilSearched submits a request and goes on until all have answered, and the search is to begin.
func (d *deployment) untilSearched() {
	d.Helper()
	d.submit(lethe.ErasureRequest{
		RequestID: "gdpr-1", Scope: lethe.ScopeStubs, Targets: lethe.Transactions("transaction-1"),
	})
	require.NoError(d, d.boot())
	for range 10 {
		d.otherRoles()
		require.NoError(d, d.deliver())
		require.NoError(d, d.advance())
	}
}

// Who led before writes a barrier late, and the topic is compacted before the one of who leads was read: that does not
// come any more. It is said again, and the request is verified.
func TestABarrierThatWasWrittenOverIsSaidAgain(t *testing.T) {
	d := deploy(t)
	d.untilSearched()
	require.NoError(t, d.verify())
	require.NoError(t, d.Advance(d.Context()))
	isBarrier := func(rec ingest.Record) bool { return string(rec.Key) == "!barrier" }
	control := d.bus.topics[bus.Control]
	require.True(t, slices.ContainsFunc(control[d.noticed:], isBarrier), "it was sent and not read")
	d.bus.topics[bus.Control] = slices.DeleteFunc(control, isBarrier)
	late, err := wire.Barrier{Name: "of before"}.Record()
	require.NoError(t, err)
	d.bus.append(bus.Control, late)
	require.NoError(t, d.deliver())
	require.NoError(t, d.Advance(d.Context()))
	require.Equal(t, 1, d.Counts()[deletions.Erased], "nobody knows yet who has joined")
	require.NoError(t, d.deliver())
	require.NoError(t, d.Advance(d.Context()))
	require.Equal(t, 1, d.Counts()[deletions.Verified])
}

// What was refused because it stands in an envelope is found in it, and its dead letter withdrawn.
func TestErasureOpensDeadLetters(t *testing.T) {
	const record = `{"id":"order-77","timestep":3,"subjects":["ann"],"features":[1,2]}`
	in64 := base64.StdEncoding.EncodeToString([]byte(record))
	quoted, err := json.Marshal(record)
	require.NoError(t, err)
	prints, err := scan.SubjectFingerprints(testSecret, "ann", 9)
	require.NoError(t, err)
	subject, err := scan.NewScanner(testSecret, prints)
	require.NoError(t, err)
	for name, value := range map[string]string{
		"base64":  fmt.Sprintf(`{"specversion":"1.0","id":"event-1","data_base64":"%s"}`, in64),
		"quoted":  string(quoted),
		"Connect": fmt.Sprintf(`{"schema":null,"payload":%s}`, record),
	} {
		t.Run(name, func(t *testing.T) {
			rec := ingest.Record{Key: []byte("event-1"), Value: []byte(value)}
			require.NotEmpty(t, search.Hits(subject, rec), "a subject that it carries")
			d := deploy(t)
			for _, topic := range []bus.Topic{bus.Transactions, bus.DeadLetters} {
				d.bus.append(topic, ingest.Outgoing{Key: rec.Key, Value: rec.Value})
				d.bus.append(topic, ingest.Outgoing{Key: []byte("event-2"), Value: []byte(`{"data_base64":"aGVsbG8gd29ybGQ="}`)})
			}
			d.submit(lethe.ErasureRequest{RequestID: "r", Targets: lethe.Transactions("order-77"), Scope: lethe.ScopeStubs})
			require.NoError(t, d.boot())
			d.rounds(20)
			require.Equal(t, 1, d.Counts()[deletions.Verified])
			require.Equal(t, deletions.OutcomeErased, d.statement("r").Outcomes[0].Outcome)
			for _, topic := range []bus.Topic{bus.Transactions, bus.DeadLetters} {
				require.Len(t, d.bus.topics[topic], 1)
				require.Equal(t, "event-2", string(d.bus.topics[topic][0].Key), "nothing of it is found in another")
			}
		})
	}
}

// A record that no reader of committed records gets is in the log all the same. Its erasure waits until the log
// is without it, and is not one of which nothing was held.
func TestErasureWaitsForRecordsThatAreNotCommitted(t *testing.T) {
	for _, uncommitted := range []ingest.Uncommitted{ingest.InAborted, ingest.BehindOpen} {
		t.Run(string(uncommitted), func(t *testing.T) {
			d := deploy(t)
			d.ticking = true
			d.bus.append(bus.Transactions, ingest.Outgoing{Key: []byte("stuck-7"), Value: []byte(`{"id":"order-77"}`)})
			d.bus.topics[bus.Transactions][0].Uncommitted = uncommitted
			d.bus.append(bus.Transactions, ingest.Outgoing{Key: []byte("stuck-7"), Value: []byte(`{"id":"order-78"}`)})
			d.submit(lethe.ErasureRequest{RequestID: "r", Targets: lethe.Transactions("order-77"), Scope: lethe.ScopeStubs})
			require.NoError(t, d.boot())
			log := d.logged()
			d.rounds(10)
			require.Zero(t, d.Counts()[deletions.Verified], "it is in the log")
			require.Contains(t, log.String(), "something is left")
			if uncommitted == ingest.BehindOpen {
				require.Contains(t, log.String(), "an open transaction keeps records")
				require.Contains(t, log.String(), "topic=transactions.v1 partition=0 first_offset=0")
			}
			for _, rec := range d.bus.topics[bus.Transactions] {
				require.False(t, rec.Tombstone() && string(rec.Key) == "stuck-7", "the committed record of its key is another's")
			}
			d.bus.topics[bus.Transactions] = slices.Delete(d.bus.topics[bus.Transactions], 0, 1)
			d.rounds(10)
			require.Equal(t, 1, d.Counts()[deletions.Verified])
			s := d.statement("r")
			require.Equal(t, deletions.OutcomeErased, s.Outcomes[0].Outcome)
		})
	}
}

// Intake indexes the subjects of a record that it rejects as late. Its dead letter may be all that is left of it, if
// the index was rebuilt from topics that no longer have the record. Then its transaction is requested by its id.
func TestALateRecordOfASubjectIsRequestedByItsLetter(t *testing.T) {
	d := deploy(t)
	key, value, err := ingest.EncodeTransaction(lethe.Transaction{
		ID: "transaction-77", Timestep: 3, Features: []float32{1, 2}, Subjects: []string{"customer-1"},
	})
	require.NoError(t, err)
	rec := ingest.Record{Topic: string(bus.Transactions), Key: key, Value: value}
	d.bus.append(bus.DeadLetters, ingest.DeadLetter(rec, &ingest.Refusal{Reason: ingest.Late}, "test"))
	d.submit(lethe.ErasureRequest{
		RequestID: "r", Scope: lethe.ScopeStubs, Targets: []lethe.Target{lethe.SubjectThrough("customer-1", 9)},
	})
	require.NoError(t, d.boot())
	carrier := testSecret.Suppressed(lethe.Transactions("transaction-77")[0])
	requested := func() bool {
		entries, err := deletions.NewLedger(d.kv, nil).List()
		require.NoError(t, err)
		return slices.ContainsFunc(entries, func(e deletions.Entry) bool { return slices.Contains(e.Targets, carrier) })
	}
	for round := 0; round < 10 && !requested(); round++ {
		d.otherRoles()
		require.NoError(t, d.deliver())
		require.NoError(t, d.advance())
	}
	require.True(t, requested())
}
