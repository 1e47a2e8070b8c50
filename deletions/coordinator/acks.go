package coordinator

import (
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/pipeline/wire"
)

// The roles whose acknowledgements are waited for.
const (
	trainRole = "train"
	scoreRole = "score"
	// graphsRole is this one.
	graphsRole = "graphs"
)

// acks holds the newest acknowledgement of each process and step, by request.
type acks struct {
	newest map[string]map[source]deletions.Ack
	// registered is the data directory that plays each role, as far as it was said.
	// Nobody else's acknowledgements count: what another directory holds is not what
	// was searched.
	registered map[string]wire.Instance
	// settings are what each role has said that others must share.
	settings map[string]wire.Settings
	// unlogged says that a take-over may not be in the transparency log.
	unlogged bool
}

// source is whose acknowledgement it is, and of what.
type source struct {
	role, instance string
	step           deletions.Step
}

func newAcks() acks {
	return acks{
		newest: make(map[string]map[source]deletions.Ack), registered: make(map[string]wire.Instance),
		settings: make(map[string]wire.Settings),
	}
}

func (a acks) take(ack deletions.Ack) {
	known := a.newest[ack.RequestID]
	if known == nil {
		known = make(map[source]deletions.Ack)
		a.newest[ack.RequestID] = known
	}
	known[source{ack.Role, ack.Instance, ack.Step}] = ack
}

// of returns a role's acknowledgement of an attempt of the request, or of the batch
// that it leads.
func (a acks) of(requestID string, attempt int, role string, step deletions.Step) (deletions.Ack, bool) {
	registered, said := a.registered[role]
	for from, ack := range a.newest[requestID] {
		counts := !said || from.instance == registered.Identity
		if from.role == role && from.step == step && ack.Attempt >= attempt && counts {
			return ack, true
		}
	}
	return deletions.Ack{}, false
}

// drop forgets a request's acknowledgements and returns the tombstones that
// delete them from the topic, in the order of their keys.
func (a acks) drop(requestID string) []ingest.Outgoing {
	var keys []string
	for ack := range maps.Values(a.newest[requestID]) {
		keys = append(keys, ack.Key())
	}
	delete(a.newest, requestID)
	slices.Sort(keys)
	records := make([]ingest.Outgoing, len(keys))
	for i, key := range keys {
		records[i].Key = []byte(key)
	}
	return records
}

// logTakeOvers has every take-over that was said in the transparency log, once.
func (a *acks) logTakeOvers(log *translog.Log) error {
	if !a.unlogged {
		return nil
	}
	var leaves []translog.Leaf
	for _, g := range a.gone() {
		if g.Instance != "" {
			leaves = append(leaves, translog.TakeOver(g.Role, g.Instance, g.DeclaredAt))
		}
	}
	if _, err := log.Append(leaves...); err != nil {
		return err
	}
	a.unlogged = false
	return nil
}

// gone are the folders that no role answers for any more, as an operator has said.
func (a acks) gone() (out []deletions.GoneFolder) {
	for _, role := range []string{graphsRole, trainRole, scoreRole} {
		i := a.registered[role]
		if i.Earlier > 0 {
			out = append(out, deletions.GoneFolder{Role: role, Earlier: i.Earlier})
		}
		for _, r := range i.Replaced {
			out = append(out, deletions.GoneFolder{Role: role, Instance: r.Identity, DeclaredAt: r.At})
		}
	}
	return out
}
