package graphs

import (
	"cmp"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/internal/normalise"
	"lethe/internal/sortedset"
	"lethe/pipeline/graphs/erase"
	"lethe/snapshot"
)

// Held is the data of one transaction, payment or subject in the graphs. Other transactions appear only as the other
// ends of payments. The JSON names are part of the command line.
type Held struct {
	ID lethe.TransactionID `json:"id,omitempty"`
	// Payment is set instead of an id: source>target.
	Payment string `json:"payment,omitempty"`
	// Subject is there instead of an id. It is asked for up to the timestep Until, and Carried by
	// transactions and payments, each of which follows by itself.
	Subject string          `json:"subject,omitempty"`
	Until   *lethe.Timestep `json:"until,omitempty"`
	Carried []string        `json:"carried_by,omitempty"`
	// Asked are the positions of the features that were asked for, "all" for all of them.
	Asked []string `json:"features_asked,omitempty"`
	// State is that of the transaction's timestep, or empty if the transaction itself is not
	// here; then payments or labels that wait for it may be.
	State    string          `json:"state"`
	Timestep *lethe.Timestep `json:"timestep,omitempty"`
	// Suppressed means that it is erased, or being erased.
	Suppressed bool `json:"suppressed"`
	// Features are those of the graph, Waiting the rows that are in no graph yet, such as a correction. A missing value
	// is null.
	Features []*float32   `json:"features,omitempty"`
	Waiting  [][]*float32 `json:"waiting,omitempty"`
	Label    string       `json:"label,omitempty"`
	// Shard is set once its timestep is settled. Shards are those of both ends of a payment: if both are the same shard,
	// it has the payment as an edge; otherwise each has a stub for the other end.
	Shard  *lethe.ShardID  `json:"shard,omitempty"`
	Shards []lethe.ShardID `json:"shards,omitempty"`
	// Payments are those of the graph.
	Payments []HeldPayment `json:"payments"`
	// Records are payments and labels that wait or were refused, as they were sent.
	Records []HeldRecord `json:"records"`
}

// HeldPayment is a payment of a graph.
type HeldPayment struct {
	Source lethe.TransactionID `json:"source"`
	Target lethe.TransactionID `json:"target"`
}

// HeldRecord is a record of a topic that names a transaction.
type HeldRecord struct {
	Topic string `json:"topic"`
	Key   string `json:"key"`
	Value string `json:"value"`
}

// holdings reads the data of targets.
type holdings struct{ erase.Carriers }

// of reads the data of transactions, payments and subjects; for features, those of their transactions.
func (e holdings) of(targets []lethe.Target) ([]Held, error) {
	var list []lethe.Target
	asked := make(map[lethe.TransactionID][]string)
	for _, t := range targets {
		if t.Kind == lethe.FeaturesTarget {
			asked[t.Transaction] = append(asked[t.Transaction], cmp.Or(t.Columns.String(), "all"))
			t = lethe.Transactions(t.Transaction)[0]
		}
		list = append(list, t)
	}
	list = lethe.Distinct(list)
	located, err := e.Store.Locate(list)
	if err != nil {
		return nil, err
	}
	var out []Held
	for i, l := range located {
		h := Held{
			ID: list[i].Transaction, Suppressed: l.Suppressed, Payments: []HeldPayment{}, Records: []HeldRecord{},
			Asked: asked[list[i].Transaction],
		}
		h.named(list[i], l)
		if l.Known && list[i].Kind != lethe.SubjectTarget {
			h.State, h.Timestep = l.State.String(), &l.Timestep
		}
		if l.Row != nil {
			h.Waiting = append(h.Waiting, values(l.Row))
		}
		if h.Timestep != nil && l.State > lethe.Open {
			if err := e.heldOfGraph(&h, l); err != nil {
				return nil, err
			}
		}
		if h.Records, err = e.heldRecords(list[i]); err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// named sets the name of a target that is not a transaction.
func (h *Held) named(t lethe.Target, l snapshot.Located) {
	switch t.Kind {
	case lethe.PaymentTarget:
		h.Payment = string(ingest.PaymentKey(t.Payment.Source, t.Payment.Target))
	case lethe.SubjectTarget:
		h.Subject, h.Until = t.Subject, &t.Until
		for _, c := range l.Carried {
			name := string(c.Transaction)
			if c.Kind == lethe.PaymentTarget {
				name = string(ingest.PaymentKey(c.Payment.Source, c.Payment.Target))
			}
			h.Carried = append(h.Carried, name)
		}
	default:
	}
}

// heldOfGraph adds the data in the graph of a closed timestep.
func (e holdings) heldOfGraph(h *Held, l snapshot.Located) error {
	content, err := e.Store.Load(l.Timestep)
	if err != nil {
		return err
	}
	s := content.Snapshot
	if l.Kind == lethe.PaymentTarget {
		heldPayment(h, content, l.Payment)
		return nil
	}
	node, found := s.Find(l.Pseudonym)
	if !found {
		return nil
	}
	h.Features, h.Label = values(s.Row(node)), s.Nodes[node].Label.String()
	if content.Assignment != nil {
		h.Shard = &content.Assignment[node]
	}
	for _, p := range s.Payments {
		if int(p.Source) == node || int(p.Target) == node {
			h.Payments = append(h.Payments, HeldPayment{s.Nodes[p.Source].ID, s.Nodes[p.Target].ID})
		}
	}
	return nil
}

// heldPayment adds a payment and where its ends are.
func heldPayment(h *Held, content *snapshot.Content, p lethe.PseudonymPair) {
	nodes := content.Snapshot.Nodes
	source, pays := content.Snapshot.Find(p.Source)
	target, paid := content.Snapshot.Find(p.Target)
	arc := lethe.Arc{Source: uint32(max(0, source)), Target: uint32(max(0, target))}
	if !pays || !paid || !slices.Contains(content.Snapshot.Payments, arc) {
		return
	}
	h.Payments = append(h.Payments, HeldPayment{nodes[source].ID, nodes[target].ID})
	if content.Assignment != nil {
		h.Shards = []lethe.ShardID{content.Assignment[source], content.Assignment[target]}
	}
}

// Target returns the target of an erasure of this data.
func (h Held) Target() lethe.Target {
	if h.Subject != "" {
		return lethe.SubjectThrough(h.Subject, *h.Until)
	}
	if source, target, joined := strings.Cut(h.Payment, ">"); joined {
		return lethe.PaymentBetween(lethe.TransactionID(source), lethe.TransactionID(target))
	}
	return lethe.Transactions(h.ID)[0]
}

// Naming returns a function that returns the positions of the targets that a record names, ascending: by its key and
// anywhere in its content, in any spelling of JSON. It reads a record once for all targets.
func Naming(
	secret lethe.Secret, rule normalise.Rule, targets ...lethe.Target,
) (func(key []byte, rest ...[]byte) []int, error) {
	var prints []scan.Fingerprint
	var of []int
	for i, target := range targets {
		own, _, err := scan.TargetFingerprints(secret, target)
		if err != nil {
			return nil, err
		}
		prints, of = append(prints, own...), append(of, slices.Repeat([]int{i}, len(own))...)
	}
	scanner, err := scan.NewRecordScanner(secret, rule, prints)
	if err != nil {
		return nil, err
	}
	return func(key []byte, rest ...[]byte) (named []int) {
		for _, h := range scanner.MatchRecord(key, rest...) {
			named = append(named, of[h.Fingerprint])
		}
		return sortedset.Of(named)
	}, nil
}

// heldRecords are the payments and labels in staging that name a target.
func (e holdings) heldRecords(target lethe.Target) ([]HeldRecord, error) {
	out := []HeldRecord{}
	names, err := Naming(e.Secret, e.Names, target)
	if err != nil {
		return nil, err
	}
	err = e.Store.Letters().Originals(func(o snapshot.Origin) error {
		if len(names(o.Key, ingest.Spelled([][]byte{o.Value})...)) > 0 {
			out = append(out, HeldRecord{Topic: o.Topic, Key: string(o.Key), Value: ingest.Text(o.Value)})
		}
		return nil
	})
	return out, err
}

// values are the features of a row, nil where one is missing.
func values(row []float32) []*float32 {
	out := make([]*float32, len(row))
	for i, v := range row {
		if !lethe.IsMissing(v) {
			out[i] = &v
		}
	}
	return out
}
