package coordinator

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/ingest/bus"
)

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
			for range 20 {
				require.NoError(t, d.round())
				d.now = d.now.Add(time.Minute)
			}
			require.Equal(t, 1, d.Counts()[deletions.Verified])
			require.Equal(t, deletions.OutcomeErased, d.statement("r").Outcomes[0].Outcome)
			for _, topic := range []bus.Topic{bus.Transactions, bus.DeadLetters} {
				require.Len(t, d.bus.topics[topic], 1)
				require.Equal(t, "event-2", string(d.bus.topics[topic][0].Key), "nothing of it is found in another")
			}
		})
	}
}
