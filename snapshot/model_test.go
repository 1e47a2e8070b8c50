package snapshot_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"lethe"
	"lethe/snapshot"
)

const (
	transactionsTopic = "transactions"
	labelsTopic       = "labels"
	lastTimestep      = 6
	wrongBy           = 9
	modelFeatures     = 2
)

// logged is one record of a log: a transaction, a payment, a label or, if end
// is set, a control record.
type logged struct {
	end      bool
	timestep lethe.Timestep
	id       lethe.TransactionID
	target   lethe.TransactionID // of a payment
	features []float32           // of a transaction
	label    lethe.Label
}

// logs is what the topics hold, one log per partition.
type logs struct {
	options      snapshot.Options
	transactions [][]logged
	labels       [][]logged
	erased       []lethe.TransactionID
}

func nodeID(n int) lethe.TransactionID { return lethe.TransactionID(fmt.Sprintf("node-%02d", n)) }

// drawLogs draws logs whose timesteps rise unevenly, with late records, ids in
// two timesteps, repetitions and ends that never come.
func drawLogs(rt *rapid.T) *logs {
	number := func(low, high int) int { return rapid.IntRange(low, high).Draw(rt, "n") }
	w := &logs{options: snapshot.Options{
		Secret: lethe.Secret{1}, TransactionPartitions: number(1, 3), LabelPartitions: number(1, 2),
		Config: snapshot.Config{
			AllowedLatenessTimesteps: number(-1, 1), LabelLatenessTimesteps: number(-1, 1),
			FeatureCount: modelFeatures, Late: snapshot.Reopen, ReopenTimesteps: snapshot.AnyTimestep,
			RewriteAtOnce: number(1, 3), RowFileBytes: number(1, 200),
			FirstTimestep: lethe.Timestep(number(0, 2)), MaxTimestepJump: number(2, 5), MaxWaiting: 1000, MaxOpenTimesteps: 1000,
		},
	}}
	if number(0, 3) == 0 {
		w.options.Late = snapshot.DeadLetter
	}
	for range number(0, 2) {
		w.erased = append(w.erased, nodeID(number(3, 3*lastTimestep)))
		// What is too far ahead depends on what was read before.
		w.options.MaxTimestepJump = 2 * (lastTimestep + wrongBy)
	}
	w.transactions = make([][]logged, w.options.TransactionPartitions)
	w.labels = make([][]logged, w.options.LabelPartitions)
	put := func(logs [][]logged, key int, r logged) {
		at := key % len(logs)
		if number(0, 15) == 0 { // a wrong number, now and then not far from right
			r.timestep += lethe.Timestep(number(2, wrongBy))
		}
		logs[at] = append(logs[at], r)
		if old := logs[at]; number(0, 7) == 0 {
			logs[at] = append(old, old[number(0, len(old)-1)])
		}
	}
	for t := 1; t < lastTimestep; t++ {
		for range number(0, 24) {
			n := number(0, 3) + 3*t - number(0, 12)/12*3
			m := number(0, 3) + 3*t
			at := lethe.Timestep(max(1, t-number(0, 8)/7))
			switch number(0, 6) {
			case 0, 1:
				put(w.transactions, n, logged{timestep: at, id: nodeID(n), features: []float32{float32(number(0, 3)), float32(n)}})
			case 2, 3, 4:
				if n != m {
					put(w.transactions, 5*n+m, logged{timestep: at, id: nodeID(n), target: nodeID(m)})
				}
			case 5:
				put(w.labels, n, logged{timestep: at, id: nodeID(n), label: lethe.Label(number(0, lethe.NumLabels-1))})
			case 6:
				if number(0, 9) == 0 {
					put(w.transactions, n, logged{end: true, timestep: lethe.Timestep(t)})
				}
			}
		}
	}
	for _, logs := range [][][]logged{w.transactions, w.labels} {
		for p := range logs {
			for t := range lethe.Timestep(lastTimestep + wrongBy) { // one by one, so that none is too far ahead
				logs[p] = append(logs[p], logged{end: true, timestep: t})
			}
		}
	}
	return w
}

// verdicts is what the rules of the package comment say of the logs, worked out
// log by log without a store.
type verdicts struct {
	snapshots map[lethe.Timestep]*lethe.Snapshot
	dead      deadLetters
	// ahead holds the places of the records that are too far ahead.
	ahead map[string]bool
}

// deadLetters are those of payments and labels, by what they are about.
type deadLetters map[string]deadLetter

// deadLetter is the letter of a record by its place, "topic/partition@offset".
type deadLetter struct{ place, reason string }

// put writes a letter, as a compacted topic keeps it.
func (d deadLetters) put(w *logs, l snapshot.Letter) {
	at := w.transactions
	if l.Origin.Topic == labelsTopic {
		at = w.labels
	}
	about := at[l.Origin.Partition][l.Origin.Offset].about(l.Origin.Topic)
	if l.Withdrawn {
		delete(d, about)
		return
	}
	d[about] = deadLetter{fmt.Sprintf("%s/%d@%d", l.Origin.Topic, l.Origin.Partition, l.Origin.Offset), l.Reason}
}

func (r logged) about(topic string) string { return fmt.Sprintf("%s %s>%s", topic, r.id, r.target) }

// names reports whether a dead letter is about something erased.
func (w *logs) names(about string) bool {
	return slices.ContainsFunc(w.erased, func(id lethe.TransactionID) bool { return strings.Contains(about, string(id)) })
}

type pairAt struct {
	source, target lethe.TransactionID
	timestep       lethe.Timestep
}

type labelAt struct {
	id       lethe.TransactionID
	timestep lethe.Timestep
}

// accepted calls take for the records that are taken, and notes those that are too far
// ahead.
func (w *logs) accepted(v verdicts, topic string, take func(r logged, place string)) {
	logs, lateness := w.transactions, w.options.AllowedLatenessTimesteps
	if topic == labelsTopic {
		logs, lateness = w.labels, w.options.LabelLatenessTimesteps
	}
	for p, log := range logs {
		watermark := w.options.FirstTimestep
		for offset, r := range log {
			place := fmt.Sprintf("%s/%d@%d", topic, p, offset)
			switch {
			case r.timestep > watermark+lethe.Timestep(w.options.MaxTimestepJump):
				v.ahead[place] = true
				continue
			case r.end:
				watermark = max(watermark, r.timestep+1)
				continue
			case slices.Contains(w.erased, r.id) || slices.Contains(w.erased, r.target):
				// Erased at the end, it has moved the watermark. That matters only if
				// late records are refused.
			case r.timestep >= watermark, w.options.Late == snapshot.Reopen && r.timestep >= w.options.FirstTimestep:
				take(r, place)
			}
			if lateness >= 0 {
				watermark = max(watermark, r.timestep-lethe.Timestep(lateness))
			}
		}
	}
}

func (w *logs) expected() verdicts {
	v := verdicts{snapshots: map[lethe.Timestep]*lethe.Snapshot{}, dead: deadLetters{}, ahead: map[string]bool{}}
	nodes := map[lethe.TransactionID]logged{}
	payments := map[pairAt]string{}
	w.accepted(v, transactionsTopic, func(r logged, place string) {
		pair := pairAt{r.id, r.target, r.timestep}
		switch known, found := nodes[r.id]; {
		case r.target != "" && payments[pair] == "":
			payments[pair] = place
		case r.target == "" && (!found || known.timestep == r.timestep):
			nodes[r.id] = r
		}
	})
	labels := map[labelAt]logged{}
	places := map[labelAt]string{}
	w.accepted(v, labelsTopic, func(r logged, place string) {
		at := labelAt{r.id, r.timestep}
		if known, found := labels[at]; !found || known.label != r.label {
			labels[at], places[at] = r, place
		}
	})
	for id, r := range nodes {
		s := v.snapshots[r.timestep]
		if s == nil {
			s = &lethe.Snapshot{Timestep: r.timestep, FeatureCount: modelFeatures}
			v.snapshots[r.timestep] = s
		}
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{
			Pseudonym: w.options.Secret.Pseudonym(id), ID: id, Label: labels[labelAt{id, r.timestep}].label,
		})
	}
	for _, s := range v.snapshots {
		w.complete(s, nodes, payments)
	}
	for _, pair := range slices.SortedFunc(maps.Keys(payments), byTimestep) {
		about := logged{id: pair.source, target: pair.target}.about(transactionsTopic)
		v.refuse(about, payments[pair], pair.timestep, snapshot.ReasonUnknownEndpoint,
			nodes[pair.source].timestep, nodes[pair.target].timestep)
	}
	for at := range lethe.Timestep(lastTimestep + wrongBy) {
		for label, place := range places {
			if label.timestep == at {
				about := logged{id: label.id}.about(labelsTopic)
				v.refuse(about, place, at, snapshot.ReasonUnknownTransaction, nodes[label.id].timestep)
			}
		}
	}
	return v
}

func byTimestep(a, b pairAt) int { return cmp.Compare(a.timestep, b.timestep) }

// complete orders a snapshot's nodes, and fills in features and payments.
func (w *logs) complete(s *lethe.Snapshot, nodes map[lethe.TransactionID]logged, payments map[pairAt]string) {
	slices.SortFunc(s.Nodes, func(a, b lethe.SnapshotNode) int { return a.Pseudonym.Compare(b.Pseudonym) })
	position := map[lethe.TransactionID]uint32{}
	for i, n := range s.Nodes {
		position[n.ID] = uint32(i)
		s.Features = append(s.Features, nodes[n.ID].features...)
	}
	for pair := range payments {
		a, foundA := position[pair.source]
		b, foundB := position[pair.target]
		if pair.timestep == s.Timestep && foundA && foundB {
			s.Payments = append(s.Payments, lethe.Arc{Source: a, Target: b})
		}
	}
	slices.SortFunc(s.Payments, lethe.Arc.Compare)
}

// refuse notes a record of a timestep whose subjects are in the given timesteps
// (0: nowhere), if any is elsewhere and its timestep is over. Of those about the same,
// the last one counts.
func (v *verdicts) refuse(about, place string, at lethe.Timestep, unknown string, subjects ...lethe.Timestep) {
	over := lethe.NoTimestep
	for t := range v.snapshots {
		over = max(over, t)
	}
	elsewhere := slices.ContainsFunc(subjects, func(t lethe.Timestep) bool { return t != at })
	if at > over || !elsewhere {
		return
	}
	v.dead[about] = deadLetter{place, snapshot.ReasonCrossTimestep}
	if slices.Contains(subjects, 0) {
		v.dead[about] = deadLetter{place, unknown}
	}
}
