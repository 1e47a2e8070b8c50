package translog

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/tlog"

	"lethe"
	"lethe/deletions"
)

// Log is a deployment's log, in the ledger's KV. Every write has a new signed checkpoint, so that the stored one is
// always that of the stored leaves. It is safe for concurrent use.
type Log struct {
	mu     sync.Mutex
	kv     deletions.KV
	signer Signer
	// before introduces the signer's key if the log has only the previous one.
	before *introducer
	// loaded means that the fields below are those of the KV.
	loaded bool
	tree   Tree
	keys   Keys
	signed SignedTree
	// at is the first index of each leaf by hash.
	at map[tlog.Hash]int64
	// logged are the logged changes of each request.
	logged map[lethe.Digest][]deletions.Change
	// withFound are the requests with a Found.
	withFound map[lethe.Digest]bool
	// latest are the current digests.
	latest map[artefact]lethe.Digest
	// published counts leaves known to be in the topic, pending are the others.
	published int64
	pending   [][]byte
	// beyond are leaves that only fenced leaders have published. confirmed is the size of the last checkpoint of this log
	// that was read back.
	beyond    []int64
	confirmed int64
}

// NewLog returns the log kept in kv.
func NewLog(kv deletions.KV, signer Signer) *Log { return &Log{kv: kv, signer: signer} }

// Write implements deletions.Journal: a Request for a new entry, a Transition for every new change, a Found, and an
// Operator for a hold that was set or lifted.
func (l *Log) Write(c deletions.Changes, rows []deletions.Row, put func(...deletions.Row) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return err
	}
	var leaves []Leaf
	for _, e := range c.Entries {
		logged := l.logged[e.Digest]
		if len(logged) > len(e.History) || !slices.EqualFunc(logged, e.History[:len(logged)], sameChange) {
			return refuse(StatementLedger, "the log has other changes of request %s than the ledger", e.RequestID)
		}
		leaves = append(append(leaves, leavesOf(e, len(logged))...), leafOfFound(e, l.withFound)...)
	}
	var holds []Leaf
	for _, h := range c.Holds {
		holds = append(holds, leafOfHold(h))
	}
	holds, err := l.fresh(holds)
	if err != nil {
		return err
	}
	return l.write(append(leaves, holds...), rows, put)
}

func sameChange(a, b deletions.Change) bool {
	return a.State == b.State && a.Failure == b.Failure && a.At.Equal(b.At)
}

// leavesOf are the leaves of a history from change n on.
func leavesOf(e deletions.Entry, n int) (out []Leaf) {
	if n == 0 {
		out = append(out, Request{
			Digest: e.Digest, Scope: e.Scope, At: e.Received(), Targets: len(e.Targets),
			Commitments: append([]lethe.Digest{}, e.Commitments...),
			Payments:    slices.Clone(e.Payments), Salts: e.Salts, SignedBy: slices.Clone(e.SignedBy),
		})
		n = 1
	}
	for _, c := range e.History[n:] {
		moved := Transition{Request: e.Digest, State: c.State, Failure: c.Failure, At: c.At}
		if c.State == deletions.Accepted {
			moved.SignedBy = slices.Clone(e.SignedBy)
		}
		out = append(out, moved)
		if c.State == deletions.Cancelled {
			out = append(out, Operator{Action: ActionCancel, At: c.At, Request: e.Digest})
		}
	}
	return out
}

// fresh returns the distinct leaves that the log lacks.
func (l *Log) fresh(leaves []Leaf) (out []Leaf, err error) {
	known := make(map[tlog.Hash]bool)
	for _, leaf := range leaves {
		text, err := Encode(leaf)
		if err != nil {
			return nil, err
		}
		hash := tlog.RecordHash(text)
		if _, found := l.at[hash]; !found && !known[hash] {
			known[hash] = true
			out = append(out, leaf)
		}
	}
	return out, nil
}

// Append adds the leaves that the log lacks in one write. Requests and transitions come by Write only.
func (l *Log) Append(leaves ...Leaf) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return err
	}
	for _, leaf := range leaves {
		if k := leaf.Kind(); k == KindRequest || k == KindTransition || k == KindFound {
			return fmt.Errorf("a leaf of kind %s is the ledger's to write", k)
		}
	}
	fresh, err := l.fresh(leaves)
	if err != nil || len(fresh) == 0 {
		return err
	}
	return l.write(fresh, nil, l.kv.Put)
}

func (l *Log) write(leaves []Leaf, rows []deletions.Row, put func(...deletions.Row) error) (err error) {
	first := l.tree.Size()
	if len(leaves) == 0 {
		return put(rows...)
	}
	texts := make([][]byte, len(leaves))
	for i, leaf := range leaves {
		if texts[i], err = Encode(leaf); err != nil {
			return err
		}
	}
	// Until it is written, nothing is known.
	l.loaded = false
	if err := l.tree.Append(texts...); err != nil {
		return err
	}
	tree, err := l.tree.Now()
	if err != nil {
		return err
	}
	signed, err := l.signer.Sign(tree)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	for i, text := range texts {
		rows = append(rows, deletions.Row{Key: leafKey(first + int64(i)), Value: text})
	}
	rows = append(rows, deletions.Row{Key: checkpointKey(), Value: []byte(signed.Note)})
	if err := put(rows...); err != nil {
		return err
	}
	l.loaded, l.signed = true, signed
	for i, leaf := range leaves {
		l.apply(first+int64(i), leaf, texts[i])
	}
	return nil
}

// apply updates the state by a stored leaf.
func (l *Log) apply(index int64, leaf Leaf, text []byte) {
	hash := tlog.RecordHash(text)
	if _, found := l.at[hash]; !found {
		l.at[hash] = index
	}
	if index >= l.published {
		l.pending = append(l.pending, text)
	}
	if of, digest, _, ok := commitment(leaf, lethe.Digest{}); ok {
		l.latest[of] = digest
	}
	switch leaf := leaf.(type) {
	case Request:
		l.logged[leaf.Digest] = []deletions.Change{{State: deletions.Received, At: leaf.At}}
	case Found:
		l.withFound[leaf.Request] = true
	case Transition:
		l.logged[leaf.Request] = append(l.logged[leaf.Request],
			deletions.Change{State: leaf.State, At: leaf.At, Failure: leaf.Failure})
	}
}

// load reads the KV. A log that does not match its checkpoint is a Refusal.
func (l *Log) load() error {
	if l.loaded {
		return nil
	}
	stored, err := ReadStored(l.kv)
	if err != nil {
		return err
	}
	l.tree, l.keys, l.signed, l.pending = Tree{}, nil, SignedTree{}, nil
	l.at, l.logged = make(map[tlog.Hash]int64), make(map[lethe.Digest][]deletions.Change)
	l.latest, l.withFound = make(map[artefact]lethe.Digest), make(map[lethe.Digest]bool)
	if len(stored.Leaves) == 0 && stored.Checkpoint == "" {
		l.loaded = true
		return nil
	}
	var findings Findings
	l.tree, l.keys, l.signed = stored.checkTree(&findings, l.signer.origin, l.trusted(stored))
	if len(findings) > 0 {
		return findings.Err()
	}
	for i, text := range stored.Leaves {
		leaf, err := decodeSigned(text)
		if err != nil {
			findings.refuse(StatementLeaf, "leaf %d: %v", i, err)
			break
		}
		l.apply(int64(i), leaf, text)
	}
	if len(findings) == 0 && !l.signs() {
		findings.refuse(StatementKey, "the log is signed by a newer key than the one of this process")
	}
	l.loaded = len(findings) == 0
	return findings.Err()
}

// Checkpoint returns the current checkpoint, with an empty note for an empty log.
func (l *Log) Checkpoint() (SignedTree, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.load()
	return l.signed, err
}

// Prove returns the inclusion proofs of leaves of the log.
func (l *Log) Prove(leaves ...Leaf) ([]Proof, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return nil, err
	}
	out := make([]Proof, len(leaves))
	for i, leaf := range leaves {
		text, err := Encode(leaf)
		if err != nil {
			return nil, err
		}
		index, found := l.at[tlog.RecordHash(text)]
		if !found {
			return nil, ErrNoLeaf
		}
		hashes, err := tlog.ProveRecord(l.tree.Size(), index, &l.tree)
		if err != nil {
			return nil, err
		}
		out[i] = Proof{Checkpoint: l.signed.Note, Index: index, Leaf: string(text), Hashes: append([]tlog.Hash{}, hashes...)}
	}
	return out, nil
}

// ErrNoLeaf means that the log has no such leaf.
var ErrNoLeaf = errors.New("the log has no such leaf")
