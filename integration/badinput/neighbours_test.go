package badinput_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"lethe"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/integration/process"
)

// TestAnErasureEndsBesideNamesThatHoldIts erases transactions whose ids stand in those of others, in the same
// timestep and in others: none of these keeps it from being verified, and nothing happens to them. Nor does a record
// of an aborted transaction, which goes.
func TestAnErasureEndsBesideNamesThatHoldIts(t *testing.T) {
	t.Parallel()
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features, options.Seed = 4, 40, 6, 3
	stream, err := dataset.Generate(options)
	require.NoError(t, err)
	forms := []string{
		"%s", "%s|b", "%sé", "%s😀", "%s'b", `%s\b`, `"%s"`, `{"id":"%s"}`, "[%s]",
		"id=%s", "%s!b", "%s/b", "%s<b", "%s.{bcdefg",
	}
	names := make(map[lethe.TransactionID]lethe.TransactionID)
	for i, step := range stream.Steps {
		for n, tx := range step.Transactions[:len(forms)] {
			if i != 2 && n == 0 {
				continue // the erased ones are in the third timestep
			}
			name := lethe.TransactionID(fmt.Sprintf(forms[n], "order-100"))
			if i != 2 {
				name += lethe.TransactionID(fmt.Sprint("|", i))
			}
			names[tx.ID] = name
		}
	}
	rename(stream, names)
	bin := process.Build(t)
	d := start(t, bin, process.WriteFile(t, "secret", strings.Repeat("0123456789abcdef", 4)+"\n"))
	d.play(stream, nil)
	_, before := d.outcome(stream)
	d.abort(`{"id":"order-100-aborted","timestep":3,"features":[1,2,3,4,5,6]}`)

	// The first erasure has the log cleaned, so the one of the aborted record goes first.
	for _, id := range []string{"order-100-aborted", "order-100"} {
		r := process.Go(t, time.Minute, bin, "erase", "submit", "--node", id, "--request-id", "erase-"+id[6:],
			"--wait", "--json",
			"--brokers", d.service.Brokers).Wait(d.service)
		require.Zero(t, r.Code, r.Stderr+d.service.Log())
		var said deletions.Status
		require.NoError(t, json.Unmarshal([]byte(r.Stdout), &said), r.Stdout)
		require.Equal(t, deletions.Verified, said.State)
		require.Equal(t, deletions.OutcomeErased, said.Outcomes[0].Outcome)
	}
	for id := range before {
		if id != "order-100" {
			require.Contains(t, d.predictions(), id)
		}
	}
	require.NotContains(t, d.predictions(), "order-100")
	require.Zero(t, d.service.Stop(), d.service.Log())
}

// rename gives transactions other ids wherever the stream names them.
func rename(stream *dataset.Stream, names map[lethe.TransactionID]lethe.TransactionID) {
	give := func(id *lethe.TransactionID) {
		if name, has := names[*id]; has {
			*id = name
		}
	}
	for _, step := range stream.Steps {
		for i := range step.Transactions {
			give(&step.Transactions[i].ID)
		}
		for i := range step.Payments {
			give(&step.Payments[i].Source)
			give(&step.Payments[i].Target)
		}
		for i := range step.Labels {
			give(&step.Labels[i].ID)
		}
	}
}

// abort writes a record in a transaction that is aborted.
func (d *deployment) abort(value string) {
	d.t.Helper()
	p, err := kgo.NewClient(
		kgo.SeedBrokers(d.service.Brokers), kgo.TransactionalID("t"), kgo.MaxVersions(kversion.V3_7_0()))
	require.NoError(d.t, err)
	defer p.Close()
	require.NoError(d.t, p.BeginTransaction())
	rec := &kgo.Record{Topic: d.client.Name(bus.Transactions), Key: []byte("order-100-aborted"), Value: []byte(value)}
	require.NoError(d.t, p.ProduceSync(d.t.Context(), rec).FirstErr())
	require.NoError(d.t, p.EndTransaction(d.t.Context(), kgo.TryAbort))
}
