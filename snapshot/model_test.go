package snapshot_test

import (
	"fmt"
	"slices"

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
			AllowedLatenessTimesteps: number(-1, 1), LabelLatenessTimesteps: number(-1, 1), FeatureCount: modelFeatures,
			OpenStores: number(1, 3), FirstTimestep: lethe.Timestep(number(0, 2)), MaxTimestepJump: number(2, 5),
		},
	}}
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
	for range number(0, 2) {
		w.erased = append(w.erased, nodeID(number(3, 3*lastTimestep)))
	}
	return w
}

// verdicts is what the rules of the package comment say of the logs, worked out
// log by log without a store.
type verdicts struct {
	snapshots map[lethe.Timestep]*lethe.Snapshot
	// refused holds the reason of every payment and label that is refused when
	// its timestep closes or settles, by "topic/partition@offset".
	refused map[string]string
	// ahead holds the places of the records that are too far ahead.
	ahead map[string]bool
}

type pairAt struct {
	source, target lethe.TransactionID
	timestep       lethe.Timestep
}

type labelAt struct {
	id       lethe.TransactionID
	timestep lethe.Timestep
}

// accepted calls take for the records that are neither late nor too far ahead,
// and notes the latter.
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
			case r.timestep >= watermark:
				take(r, place)
			}
			if lateness >= 0 {
				watermark = max(watermark, r.timestep-lethe.Timestep(lateness))
			}
		}
	}
}

func (w *logs) expected() verdicts {
	v := verdicts{snapshots: map[lethe.Timestep]*lethe.Snapshot{}, refused: map[string]string{}, ahead: map[string]bool{}}
	nodes := map[lethe.TransactionID]logged{}
	payments := map[pairAt]string{}
	w.accepted(v, transactionsTopic, func(r logged, place string) {
		pair := pairAt{r.id, r.target, r.timestep}
		switch known, found := nodes[r.id]; {
		case slices.Contains(w.erased, r.id) || slices.Contains(w.erased, r.target):
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
		if known, found := labels[at]; !slices.Contains(w.erased, r.id) && (!found || known.label != r.label) {
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
	for pair, place := range payments {
		source, target := nodes[pair.source], nodes[pair.target]
		v.refuse(place, pair.timestep, snapshot.ReasonUnknownEndpoint, source.timestep, target.timestep)
	}
	for at, place := range places {
		v.refuse(place, at.timestep, snapshot.ReasonUnknownTransaction, nodes[at.id].timestep)
	}
	return v
}

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
// (0: nowhere), if any is elsewhere and there is a timestep to resolve it with.
func (v *verdicts) refuse(place string, at lethe.Timestep, unknown string, subjects ...lethe.Timestep) {
	resolved := lethe.Timestep(0)
	for t := range v.snapshots {
		if t >= at && (resolved == 0 || t < resolved) {
			resolved = t
		}
	}
	elsewhere := slices.ContainsFunc(subjects, func(t lethe.Timestep) bool { return t != at })
	if resolved == 0 || !elsewhere {
		return
	}
	v.refused[place] = snapshot.ReasonCrossTimestep
	if slices.ContainsFunc(subjects, func(t lethe.Timestep) bool { return t == 0 || t > resolved }) {
		v.refused[place] = unknown
	}
}
