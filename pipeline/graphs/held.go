package graphs

import (
	"strings"

	"lethe"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/snapshot"
)

// Held is what the graphs hold of one transaction, or of a payment that carries a subject. Others
// stand in it only as the other ends of payments. The JSON names are part of the command line.
type Held struct {
	ID lethe.TransactionID `json:"id,omitempty"`
	// Payment is there instead of an id: source>target.
	Payment string `json:"payment,omitempty"`
	// State is that of the transaction's timestep, or empty if the transaction itself is not
	// here; then payments or labels that wait for it may be.
	State    string          `json:"state"`
	Timestep *lethe.Timestep `json:"timestep,omitempty"`
	// Suppressed says that it is erased, or being erased.
	Suppressed bool `json:"suppressed"`
	// Features are those of the graph, Waiting the rows that are in no graph yet, such as a
	// correction. A missing value is null.
	Features []*float32   `json:"features,omitempty"`
	Waiting  [][]*float32 `json:"waiting,omitempty"`
	Label    string       `json:"label,omitempty"`
	// Shard holds it once its timestep is settled.
	Shard *lethe.ShardID `json:"shard,omitempty"`
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

// holdings reads what is held of transactions.
type holdings struct{ *eraser }

// of reads what is held of some transactions and payments; of features, what is held of theirs.
// Subjects are passed over: what carries them is asked for by itself.
func (e holdings) of(targets []lethe.Target) ([]Held, error) {
	var asked []lethe.Target
	for _, t := range targets {
		switch t.Kind {
		case lethe.SubjectTarget:
		case lethe.FeaturesTarget:
			asked = append(asked, lethe.Transactions(t.Transaction)...)
		default:
			asked = append(asked, t)
		}
	}
	targets = lethe.Distinct(asked)
	located, err := e.store.Locate(targets)
	if err != nil {
		return nil, err
	}
	var out []Held
	for i, l := range located {
		h := Held{
			ID: targets[i].Transaction, Suppressed: l.Suppressed, Payments: []HeldPayment{}, Records: []HeldRecord{},
		}
		if targets[i].Kind == lethe.PaymentTarget {
			p := targets[i].Payment
			h.Payment = string(ingest.PaymentKey(p.Source, p.Target))
		}
		if l.Known {
			h.State, h.Timestep = l.State.String(), &l.Timestep
		}
		for _, row := range l.Rows {
			h.Waiting = append(h.Waiting, values(row))
		}
		if l.Known && l.State > lethe.Open && h.Payment == "" {
			if err := e.heldOfGraph(&h, l); err != nil {
				return nil, err
			}
		}
		if h.Records, err = e.heldRecords(targets[i]); err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// heldOfGraph adds what the graph of a closed timestep holds.
func (e holdings) heldOfGraph(h *Held, l snapshot.Located) error {
	content, err := e.store.Load(l.Timestep)
	if err != nil {
		return err
	}
	s := content.Snapshot
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

// Target is what is held, as an erasure would name it.
func (h Held) Target() lethe.Target {
	if source, target, joined := strings.Cut(h.Payment, ">"); joined {
		return lethe.PaymentBetween(lethe.TransactionID(source), lethe.TransactionID(target))
	}
	return lethe.Transactions(h.ID)[0]
}

// Naming returns what tells whether a record, by its key and all that it holds besides, names
// a transaction or a payment, in any spelling of JSON.
func Naming(secret lethe.Secret, target lethe.Target) (func(key []byte, rest ...[]byte) bool, error) {
	prints, _, err := scan.TargetFingerprints(secret, target)
	if err != nil {
		return nil, err
	}
	scanner, err := scan.NewScanner(secret, prints)
	if err != nil {
		return nil, err
	}
	return func(key []byte, rest ...[]byte) bool { return len(scanner.MatchRecord(key, rest...)) > 0 }, nil
}

// heldRecords are the payments and labels in staging that name a target.
func (e holdings) heldRecords(target lethe.Target) ([]HeldRecord, error) {
	out := []HeldRecord{}
	names, err := Naming(e.secret, target)
	if err != nil {
		return nil, err
	}
	err = e.store.Originals(func(o snapshot.Origin) error {
		if names(o.Key, o.Parts()...) {
			out = append(out, HeldRecord{Topic: o.Topic, Key: string(o.Key), Value: string(o.Value)})
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
