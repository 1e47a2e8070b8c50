package lethe

import "time"

// Transaction is a node: one payment transaction of one timestep.
type Transaction struct {
	ID       TransactionID
	Timestep Timestep
	// Features are finite, or Missing.
	Features []float32
	// Subjects are the keys of the customers, accounts or addresses that the transaction concerns.
	// Like ids they are personal data, and are stored only as pseudonyms.
	Subjects []string
}

// Payment is an edge: money of one transaction flowing into another of the
// same timestep.
type Payment struct {
	Source, Target TransactionID
	Timestep       Timestep
}

// LabelRecord is the label of a transaction. Timestep is the transaction's own.
type LabelRecord struct {
	ID       TransactionID
	Timestep Timestep
	Label    Label
}

// Scope is how far an erasure reaches.
type Scope string

// The scopes. Shard replaces only the transaction's own slice (the paper's scope). Stubs, the
// default, also replaces every slice with a stub of it. Partition partitions the timestep again,
// so that the assignment of other transactions no longer depends on it.
const (
	ScopeShard     Scope = "shard"
	ScopeStubs     Scope = "stubs"
	ScopePartition Scope = "partition"
)

// SupportedScopes returns the names of the scopes, the default first.
func SupportedScopes() []string {
	return []string{string(ScopeStubs), string(ScopeShard), string(ScopePartition)}
}

// Valid reports whether the scope is one of the three.
func (s Scope) Valid() bool { return s == ScopeShard || s == ScopeStubs || s == ScopePartition }

// ErasureRequest is a request to erase targets.
type ErasureRequest struct {
	RequestID string
	Targets   []Target
	// Named holds the targets as the request spells them, if a spelling differs from the normal form in Targets;
	// otherwise nil. The digest of the request covers these spellings.
	Named  []Target
	Scope  Scope
	Reason string
	// Nonce is 32 random hexadecimal digits, or empty. With it, the digest of a request reveals
	// nothing about the content to anyone without the nonce.
	Nonce string
	// Deadline is the time by which the request should be verified; zero means none.
	Deadline time.Time
}
