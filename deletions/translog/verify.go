package translog

import (
	"bytes"
	"crypto/ed25519"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
)

// Evidence is the input of a check.
type Evidence struct {
	// Origin is the log's name, empty for the checkpoint's; Key is one of its keys (KeysOf).
	Origin string
	Key    ed25519.PublicKey
	// Stored is the data directory's log, Published that of log.v1. One may be nil.
	Stored, Published *Copy
	// Ledger and Holds are the data directory's, used with Stored.
	Ledger []deletions.Entry
	Holds  []deletions.Hold
	// Older is an earlier signed checkpoint, or empty.
	Older string
	// Receipts must be in the log.
	Receipts []IssuedReceipt
}

// IssuedReceipt is a receipt and its proof.
type IssuedReceipt struct {
	// Name is its name in findings.
	Name string
	// Payload are the signed bytes.
	Payload []byte
	// Proof may be nil.
	Proof *Proof
}

// Report is the result of Verify; the JSON names are part of the command line.
type Report struct {
	OK     bool   `json:"ok"`
	Origin string `json:"origin"`
	Size   int64  `json:"size"`
	Root   string `json:"root"`
	// OlderSize is the older checkpoint's, 0 for none.
	OlderSize int64 `json:"older_size"`
	// Requests counts those in the log, Receipts those checked.
	Requests int      `json:"requests"`
	Receipts int      `json:"receipts"`
	Refused  Findings `json:"refused"`
}

// Verify checks every statement that the evidence allows.
func Verify(e Evidence) *Report {
	r := &Report{Refused: Findings{}, Receipts: len(e.Receipts)}
	log := e.Stored
	if log == nil {
		log = e.Published
	}
	if len(log.Leaves) > 0 || log.Checkpoint != "" || e.Older != "" || len(e.Receipts) > 0 {
		tree, keys, signed := log.checkTree(&r.Refused, e.Origin, e.Key)
		r.Origin = signed.Origin
		if len(keys) > 0 {
			r.checkOlder(e.Older, tree, keys)
			for _, receipt := range e.Receipts {
				r.checkReceipt(receipt, log, &tree, keys)
			}
		}
		if now, err := tree.Now(); err == nil {
			r.Size, r.Root = now.N, now.Hash.String()
		}
	}
	logged := r.histories(log.Leaves)
	r.Requests = len(logged)
	if e.Stored != nil {
		r.checkLedger(e.Ledger, logged)
		r.checkHolds(e.Holds, log.Leaves)
	}
	if e.Stored != nil && e.Published != nil {
		r.checkPublished(e)
	}
	r.OK = len(r.Refused) == 0
	return r
}

// checkOlder checks the consistency with an older checkpoint.
func (r *Report) checkOlder(note string, tree Tree, keys Keys) {
	if note == "" {
		return
	}
	older, err := keys.Open(note, r.Origin)
	if err != nil {
		r.Refused.refuse(StatementConsistency, "the older checkpoint: %v", err)
		return
	}
	r.OlderSize = older.N
	if older.N > tree.Size() {
		r.Refused.refuse(StatementConsistency, "the older checkpoint is of %d leaves, the log has %d: the end was cut off",
			older.N, tree.Size())
		return
	}
	if was, err := tree.At(older.N); err != nil || was != older.Tree {
		r.Refused.refuse(StatementConsistency, "the log had another root at %d leaves than the older checkpoint: "+
			"a leaf was dropped, changed or moved", older.N)
	}
}

// checkReceipt checks a receipt's proof.
func (r *Report) checkReceipt(receipt IssuedReceipt, log *Copy, tree *Tree, keys Keys) {
	if receipt.Proof == nil {
		r.Refused.refuse(StatementReceipt, "%s has no proof that it is in the log", receipt.Name)
		return
	}
	p := receipt.Proof
	signed, err := ParseCheckpoint(p.Checkpoint)
	if err == nil {
		_, err = p.CheckReceipt(receipt.Payload, r.Origin, keys.At(signed.N))
	}
	if err != nil {
		r.Refused.refuse(StatementReceipt, "%s: its proof: %v", receipt.Name, err)
		return
	}
	if was, err := tree.At(signed.N); err != nil || was != signed.Tree {
		r.Refused.refuse(StatementReceipt, "%s: the log is no continuation of the checkpoint of its proof, of %d leaves",
			receipt.Name, signed.N)
	} else if string(log.Leaves[p.Index]) != p.Leaf {
		r.Refused.refuse(StatementReceipt, "%s: the log has another leaf at %d", receipt.Name, p.Index)
	}
}

// histories reads the changes of each request.
func (r *Report) histories(leaves [][]byte) map[lethe.Digest][]deletions.Change {
	logged := make(map[lethe.Digest][]deletions.Change)
	for i, text := range leaves {
		leaf, err := Decode(text)
		if err != nil {
			r.Refused.refuse(StatementLeaf, "leaf %d: %v", i, err)
			continue
		}
		switch leaf := leaf.(type) {
		case Request:
			if logged[leaf.Digest] != nil {
				r.Refused.refuse(StatementOrder, "leaf %d: request %s is there twice", i, leaf.Digest)
			}
			logged[leaf.Digest] = []deletions.Change{{State: deletions.Received, At: leaf.At}}
		case Transition:
			change := deletions.Change{State: leaf.State, At: leaf.At, Failure: leaf.Failure}
			history := append(slices.Clone(logged[leaf.Request]), change)
			if _, err := deletions.CheckHistory(history); err != nil {
				r.Refused.refuse(StatementOrder, "leaf %d: request %s: %v", i, leaf.Request, err)
			}
			logged[leaf.Request] = history
		case Receipt:
			if history := logged[leaf.Request]; len(history) == 0 || history[len(history)-1].State != deletions.Verified {
				r.Refused.refuse(StatementOrder, "leaf %d: a receipt of request %s, which is not %s there", i, leaf.Request,
					deletions.Verified)
			}
		default:
		}
	}
	return logged
}

// checkLedger compares the log with the ledger.
func (r *Report) checkLedger(entries []deletions.Entry, logged map[lethe.Digest][]deletions.Change) {
	known := make(map[lethe.Digest]bool)
	for _, e := range entries {
		known[e.Digest] = true
		if !slices.EqualFunc(logged[e.Digest], e.History, sameChange) {
			r.Refused.refuse(StatementLedger, "request %s: the ledger has %d changes, the log %d or others", e.RequestID,
				len(e.History), len(logged[e.Digest]))
		}
	}
	missing := 0
	for digest := range logged {
		if !known[digest] {
			missing++
		}
	}
	if missing > 0 {
		r.Refused.refuse(StatementLedger, "%d requests of the log are not in the ledger", missing)
	}
}

// checkHolds checks that the log has every hold as stored.
func (r *Report) checkHolds(holds []deletions.Hold, leaves [][]byte) {
	for _, h := range holds {
		text, err := Encode(leafOfHold(h))
		if err != nil || !slices.ContainsFunc(leaves, func(leaf []byte) bool { return bytes.Equal(leaf, text) }) {
			r.Refused.refuse(StatementLedger, "hold %s: the log has no leaf of it as the ledger has it", h.Name)
		}
	}
}

func (r *Report) checkPublished(e Evidence) {
	stored, published := e.Stored.Leaves, e.Published.Leaves
	for i := range min(len(stored), len(published)) {
		if !bytes.Equal(stored[i], published[i]) {
			r.Refused.refuse(StatementTopic, "leaf %d is another in %s than in the data directory", i, bus.Log)
			return
		}
	}
	switch {
	case len(published) > len(stored):
		r.Refused.refuse(StatementTopic, "%s has %d leaves, the data directory %d: it was rolled back", bus.Log,
			len(published), len(stored))
	case len(published) < len(stored) || e.Published.Beyond > 0:
		r.Refused.refuse(StatementTopic, "%s has %d leaves, the data directory %d: start lethe run, which writes them again",
			bus.Log, len(published), len(stored))
	case e.Published.Checkpoint != e.Stored.Checkpoint:
		r.Refused.refuse(StatementTopic, "the checkpoint in %s is another than in the data directory", bus.Log)
	}
}

// Receipts are the requests with a receipt in the log.
func (c Copy) Receipts() map[lethe.Digest]bool {
	out := make(map[lethe.Digest]bool)
	for _, text := range c.Leaves {
		if leaf, err := Decode(text); err == nil {
			if r, ok := leaf.(Receipt); ok {
				out[r.Request] = true
			}
		}
	}
	return out
}
