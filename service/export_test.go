package service_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service"
	"lethe/service/servicetest"
)

// An export has what is held of one transaction, and of others no more than that they paid or were
// paid by it.
func TestAnExportHoldsWhatIsHeldOfTheTargetAlone(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 60, 9)
	s := start(t, servicetest.SmallConfig(t, t.TempDir()))
	s.Replay(stream)
	id := servicetest.LabelledIllicit(stream, 3)[0]
	export := s.Plan(service.PlanRequest{Nodes: []string{string(id)}, Scopes: []string{"stubs"}, Export: true}).Export
	require.Len(t, export, 1)
	h := export[0]
	require.Equal(t, id, h.ID)
	require.Equal(t, lethe.Timestep(3), *h.Timestep)
	require.Equal(t, "settled", h.State)
	require.Equal(t, lethe.Illicit.String(), h.Label)
	require.NotNil(t, h.Shard)
	neighbours := map[lethe.TransactionID]bool{id: true}
	for _, p := range stream.Steps[2].Payments {
		if p.Source == id || p.Target == id {
			neighbours[p.Source], neighbours[p.Target] = true, true
		}
	}
	require.NotEmpty(t, h.Payments)
	for _, tx := range stream.Steps[2].Transactions {
		if tx.ID == id {
			require.Len(t, h.Features, len(tx.Features))
			for i, v := range tx.Features {
				require.Equal(t, v, *h.Features[i])
			}
		}
	}
	require.Contains(t, string(h.Prediction), string(id))
	places := make(map[string]int)
	for _, p := range h.Places {
		places[string(p.Topic)] = p.Records
	}
	for _, topic := range []string{"transactions.v1", "labels.v1", "predictions.v1"} {
		require.Positive(t, places[topic], topic)
	}
	text, err := json.Marshal(export)
	require.NoError(t, err)
	for _, step := range stream.Steps {
		for _, tx := range step.Transactions {
			if !neighbours[tx.ID] {
				require.NotContains(t, string(text), `"`+string(tx.ID)+`"`)
			}
		}
	}
	require.True(t, lethe.ValidID(string(id)))
}

// An export of a payment has where it is, and what reasons say of it; of features, those of their
// transaction and which were asked for.
func TestAnExportOfPaymentsAndFeatures(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 60, 9)
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Scoring.Threshold, c.Scoring.Reasons = "0", 20 // everything gets reasons
	s := start(t, c)
	s.Replay(stream)
	reasonsOf(s, 3*60)
	p, of := stream.Steps[2].Payments[0], stream.Steps[1].Transactions[3].ID
	edge := string(p.Source) + ">" + string(p.Target)
	asked := service.PlanRequest{
		Edges: []string{edge, "nobody>" + string(p.Target)}, Features: []string{string(of), string(of) + ">0,7"},
		Scopes: []string{"stubs"}, Export: true,
	}
	export := s.Plan(asked).Export
	require.Len(t, export, 3)
	h := export[0]
	require.Equal(t, edge, h.Payment)
	require.Equal(t, lethe.Timestep(3), *h.Timestep)
	require.Len(t, h.Shards, 2)
	require.Len(t, h.Payments, 1)
	require.Contains(t, h.Places, service.HeldPlace{Topic: bus.Transactions, Records: 1})
	var every service.PlanRequest
	for _, p := range stream.Steps[2].Payments {
		every.Edges = append(every.Edges, string(p.Source)+">"+string(p.Target))
	}
	every.Scopes, every.Export = asked.Scopes, true
	said := 0
	for i, h := range s.Plan(every).Export {
		ends := []lethe.TransactionID{stream.Steps[2].Payments[i].Source, stream.Steps[2].Payments[i].Target}
		for id, reasons := range h.ReasonsNaming {
			said++
			require.Contains(t, ends, id)
			require.Contains(t, string(reasons), string(ends[0]))
			require.Contains(t, string(reasons), string(ends[1]))
		}
	}
	require.Positive(t, said, "reasons name payments")
	require.Empty(t, export[1].Places)
	require.Empty(t, export[1].Payments)
	require.Equal(t, of, export[2].ID)
	require.Equal(t, []string{"all", "0,7"}, export[2].Asked)
	require.NotEmpty(t, export[2].Features)

	key, value, err := ingest.EncodePayment(lethe.Payment{Source: p.Target, Target: "waits", Timestep: 9})
	send(s, bus.Transactions)(key, value, err)
	s.Await(func(*service.Status) bool {
		held := s.Plan(service.PlanRequest{Edges: []string{string(key)}, Scopes: asked.Scopes, Export: true}).Export[0]
		return len(held.Records) == 1 && held.Records[0].Value == string(value)
	})
	text, err := json.Marshal(export)
	require.NoError(t, err)
	others := []lethe.TransactionID{p.Source, p.Target, of}
	for _, arc := range slices.Concat(stream.Steps[1].Payments, stream.Steps[2].Payments) {
		if slices.Contains(others[:3], arc.Source) || slices.Contains(others[:3], arc.Target) {
			others = append(others, arc.Source, arc.Target)
		}
	}
	for _, tx := range stream.Steps[3].Transactions {
		if !slices.Contains(others, tx.ID) {
			require.NotContains(t, string(text), `"`+string(tx.ID)+`"`)
		}
	}
}

// What is held of a target is told to this machine alone: not to who comes through a proxy on it,
// and not to a page whose site has taken its address.
func TestAnExportIsForThisMachineAlone(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.HTTP.Hosts = []string{"rebound.example", "localhost.example"} // pages answer under these, exports do not
	s := start(t, c)
	s.Replay(servicetest.SmallStream(t, 2, 40, 9))
	for _, c := range []struct {
		host, header string
		want         int
	}{
		{"", "", http.StatusOK},
		{"localhost:8080", "", http.StatusOK},
		{"[::1]:8080", "", http.StatusOK},
		{"127.0.0.1", "", http.StatusOK},
		{"rebound.example:8080", "", http.StatusForbidden},
		{"localhost.example", "", http.StatusForbidden},
		{"", "X-Forwarded-For", http.StatusForbidden},
		{"", "Forwarded", http.StatusForbidden},
	} {
		headers := []string{"Content-Type", "application/json", "Host", c.host}
		if c.header != "" {
			headers = append(headers, c.header, "192.0.2.1")
		}
		body := `{"nodes":["nobody"],"scopes":["stubs"],"export":true}`
		answer := s.Ask(http.MethodPost, "/api/v1/erasures/plan", body, headers...)
		require.Equal(t, c.want, answer.StatusCode, "%+v", c)
	}
}
