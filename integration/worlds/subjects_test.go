package worlds

import (
	"bytes"
	"slices"
	"strings"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// customer is the subject that some worlds erase.
const customer = "customer-1"

// subject lets a third of the transactions and of the payments carry a subject, every record
// of them, and erases it somewhere amid them, up to a timestep, or in the end, when everything
// before was read, up to what is known then. Some records are sent once more after all.
func (d *drawing) subject(k options) {
	carries := make(map[string]bool)
	for i := range d.events {
		e := &d.events[i]
		key := string(e.record.Key)
		if e.request != nil || e.topic != bus.Transactions || len(e.names) == 0 || strings.HasPrefix(key, "broken") {
			continue
		}
		rec := ingest.Record{Key: e.record.Key, Value: e.record.Value}
		event, err := ingest.DecodeTransactions(rec, ingest.DefaultLimits())
		if err != nil {
			continue
		}
		switch event := event.(type) {
		case ingest.Transaction:
			e.at = event.Timestep
		case ingest.Payment:
			e.at = event.Timestep
		default:
			continue
		}
		if len(e.names) == 1 && !strings.HasPrefix(key, prefixOf(e.at)) {
			continue // of another timestep than its transaction: it is refused, and nobody carries what it says
		}
		if _, drawn := carries[key]; !drawn {
			carries[key] = d.wider.IntN(3) == 0
		}
		if !carries[key] {
			continue
		}
		e.subjects = []string{customer}
		with := []byte(`,"subjects":["\u0063ustomer-1"],"more":{"a":[1]}}`)
		e.record.Value = append(bytes.TrimSuffix(bytes.Clone(e.record.Value), []byte("}")), with...)
	}
	until := lethe.NoTimestep
	inTheEnd := !k.late && d.wider.IntN(2) == 0
	if !inTheEnd {
		until = 1 + lethe.Timestep(d.wider.IntN(int(d.last)))
	}
	request := lethe.ErasureRequest{
		RequestID: "request-subject", Scope: lethe.ScopeStubs, Targets: []lethe.Target{lethe.SubjectThrough(customer, until)},
	}
	if d.redacts.IntN(3) == 0 {
		request.Targets = slices.Insert(request.Targets, 0, d.someFeatures(d.sent())) // as they are read
	}
	before := slices.Clone(d.events)
	at := len(d.events)
	if inTheEnd {
		// Until when it goes is told by what was read.
		d.events[at-1].polls = everythingRead
	} else {
		at = d.wider.IntN(at + 1)
	}
	d.events = slices.Insert(d.events, at, event{request: &request, polls: d.wider.IntN(40)})
	for _, e := range before {
		// Where nothing is late nothing may correct what was predicted from.
		again := k.late || inTheEnd || e.at <= until
		if len(e.subjects) > 0 && d.wider.IntN(3) == 0 && again {
			e.again = true
			d.events = append(d.events, e)
		}
	}
}

// everythingRead is how many turns the roles get so that all that was sent is read.
const everythingRead = 300

// isAgain reports whether a request is one of lethe's own, for what a backup held or what came
// late of a subject.
func isAgain(requestID string) bool {
	return strings.HasPrefix(requestID, "restored-") || strings.Contains(requestID, ".late-")
}
