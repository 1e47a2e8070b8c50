package graphs

import (
	"slices"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// recordsOf names the records that some nodes of a graph, ascending, were made of: the
// transactions, their labels and every payment of theirs; and the predictions and
// reasons for them.
func recordsOf(s *lethe.Snapshot, nodes []int) (out []coordinator.NamedRecord) {
	for _, node := range nodes {
		key := string(ingest.TransactionKey(s.Nodes[node].ID))
		for _, topic := range []bus.Topic{bus.Transactions, bus.Labels, bus.Predictions, bus.Reasons} {
			out = append(out, coordinator.NamedRecord{Topic: topic, Key: key})
		}
	}
	goes := func(node uint32) bool {
		_, found := slices.BinarySearch(nodes, int(node))
		return found
	}
	for _, p := range s.Payments {
		if goes(p.Source) || goes(p.Target) {
			key := ingest.PaymentKey(s.Nodes[p.Source].ID, s.Nodes[p.Target].ID)
			out = append(out, coordinator.NamedRecord{Topic: bus.Transactions, Key: string(key)})
		}
	}
	return out
}
