package erase

import (
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/withdrawal"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/snapshot"
)

// together is the data that several requests delete.
func together(requests []lethe.Removal) lethe.Removal {
	all := lethe.Removal{
		Nodes: make(map[lethe.Pseudonym]bool), Payments: make(map[lethe.PseudonymPair]bool),
		Features: make(map[lethe.Pseudonym]lethe.Columns),
	}
	for _, own := range requests {
		maps.Copy(all.Nodes, own.Nodes)
		maps.Copy(all.Payments, own.Payments)
		for p, columns := range own.Features {
			all.Redact(p, columns)
		}
	}
	return all
}

// isAll reports whether one request deletes the same as all.
func isAll(own, all lethe.Removal) bool {
	return maps.Equal(own.Nodes, all.Nodes) && maps.Equal(own.Payments, all.Payments) &&
		maps.EqualFunc(own.Features, all.Features, slices.Equal[lethe.Columns])
}

// count returns the numbers of deleted objects in a timestep with some edges between shards.
func count(content *snapshot.Content, gone lethe.Removal, cutBefore int) coordinator.StepPlan {
	s := content.Snapshot
	step := coordinator.StepPlan{Replaced: coordinator.Replaced{Timestep: s.Timestep}}
	for _, n := range s.Nodes {
		if gone.Nodes[n.Pseudonym] && n.Label != lethe.Unknown {
			step.Labels++
		}
	}
	rest := content.Without(gone)
	step.Payments = len(s.Payments) - len(rest.Snapshot.Payments)
	step.Stubs = cutBefore - cutEdges(rest)
	return step
}

// cutEdges counts the edges between shards; there are none before the timestep is settled.
func cutEdges(c *snapshot.Content) (n int) {
	if c.Assignment == nil {
		return 0
	}
	for _, pair := range c.Snapshot.Undirected() {
		if c.Assignment[pair.A] != c.Assignment[pair.B] {
			n++
		}
	}
	return n
}

// keptStubs counts the stubs for deleted nodes in slices that are not replaced, by shard: one for every edge between
// such a slice and a deleted node.
func keptStubs(content *snapshot.Content, nodes []int, replaced []lethe.ShardID) (out []deletions.KeptStubs) {
	if content.Assignment == nil {
		return nil
	}
	counts := make(map[lethe.ShardID]int)
	note := func(goes, stays uint32) {
		_, is := slices.BinarySearch(nodes, int(goes))
		_, both := slices.BinarySearch(nodes, int(stays))
		shard := content.Assignment[stays]
		if is && !both && shard != content.Assignment[goes] && !slices.Contains(replaced, shard) {
			counts[shard]++
		}
	}
	for _, pair := range content.Snapshot.Undirected() {
		note(pair.A, pair.B)
		note(pair.B, pair.A)
	}
	for shard, n := range counts {
		ref := deletions.SliceRef{Timestep: content.Snapshot.Timestep, Shard: shard}
		out = append(out, deletions.KeptStubs{SliceRef: ref, Stubs: n})
	}
	slices.SortFunc(out, func(a, b deletions.KeptStubs) int { return a.Compare(b.SliceRef) })
	return out
}

// transactionsAmong returns the located targets that are complete transactions.
func transactionsAmong(located []snapshot.Located) (out []snapshot.Located) {
	for _, l := range located {
		if l.Kind == lethe.TransactionTarget {
			out = append(out, l)
		}
	}
	return out
}

// recordsOf returns the records of deleted data: transactions, their labels and payments, and their predictions and
// reasons.
func recordsOf(s *lethe.Snapshot, gone lethe.Removal) (out []withdrawal.NamedRecord) {
	for _, n := range s.Nodes {
		if !gone.Nodes[n.Pseudonym] {
			continue
		}
		key := string(ingest.TransactionKey(n.ID))
		for _, topic := range []bus.Topic{bus.Transactions, bus.Labels, bus.Predictions, bus.Reasons} {
			out = append(out, withdrawal.NamedRecord{Topic: topic, Key: key})
		}
	}
	for _, p := range s.Payments {
		pair := s.Pair(p)
		if gone.Payments[pair] || gone.Nodes[pair.Source] || gone.Nodes[pair.Target] {
			key := string(ingest.PaymentKey(s.Nodes[p.Source].ID, s.Nodes[p.Target].ID))
			out = append(out, withdrawal.NamedRecord{Topic: bus.Transactions, Key: key})
		}
	}
	return out
}

// positionsOf returns the positions of located targets in the snapshot, ascending, each once.
func positionsOf(s *lethe.Snapshot, located []snapshot.Located) []int {
	var out []int
	for _, l := range located {
		if node, found := s.Find(l.Pseudonym); found {
			out = append(out, node)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
