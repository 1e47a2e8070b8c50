package graphs

import (
	"lethe"
	"lethe/deletions/coordinator"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// recordsOf names the records that what goes from a graph was made of: transactions, their
// labels and every payment of theirs; and the predictions and reasons for them.
func recordsOf(s *lethe.Snapshot, gone lethe.Removal) (out []coordinator.NamedRecord) {
	for _, n := range s.Nodes {
		if !gone.Nodes[n.Pseudonym] {
			continue
		}
		key := string(ingest.TransactionKey(n.ID))
		for _, topic := range []bus.Topic{bus.Transactions, bus.Labels, bus.Predictions, bus.Reasons} {
			out = append(out, coordinator.NamedRecord{Topic: topic, Key: key})
		}
	}
	for _, p := range s.Payments {
		pair := s.Pair(p)
		if gone.Payments[pair] || gone.Nodes[pair.Source] || gone.Nodes[pair.Target] {
			key := ingest.PaymentKey(s.Nodes[p.Source].ID, s.Nodes[p.Target].ID)
			out = append(out, coordinator.NamedRecord{Topic: bus.Transactions, Key: string(key)})
		}
	}
	return out
}
