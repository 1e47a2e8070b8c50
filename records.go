package lethe

import "time"

// Transaction is a node: one payment transaction of one timestep.
type Transaction struct {
	ID       TransactionID
	Timestep Timestep
	// Features are finite, or Missing.
	Features []float32
	// Subjects are the keys of those whom the transaction concerns: customers, accounts,
	// addresses. They are personal data as ids are, and kept as pseudonyms only.
	Subjects []string
}

// Payment is an edge: money of one transaction flowing into another of the
// same timestep.
type Payment struct {
	Source, Target TransactionID
	Timestep       Timestep
}

// LabelRecord says what is known of a transaction. Timestep is the
// transaction's own.
type LabelRecord struct {
	ID       TransactionID
	Timestep Timestep
	Label    Label
}

// Scope is how far an erasure reaches.
type Scope string

// The scopes. Shard replaces the transaction's own slice only (the paper's
// reach); Stubs, the default, replaces also every slice that holds a stub for
// it; Partition partitions the timestep afresh, so that nothing is left of the part that
// the transaction had in who is where.
const (
	ScopeShard     Scope = "shard"
	ScopeStubs     Scope = "stubs"
	ScopePartition Scope = "partition"
)

// SupportedScopes are the names of the scopes, the default first.
func SupportedScopes() []string {
	return []string{string(ScopeStubs), string(ScopeShard), string(ScopePartition)}
}

// Valid reports whether the scope is one of the three.
func (s Scope) Valid() bool { return s == ScopeShard || s == ScopeStubs || s == ScopePartition }

// ErasureRequest asks lethe to forget its targets.
type ErasureRequest struct {
	RequestID string
	Targets   []Target
	// Named are the targets as the request spells them, if one is spelled otherwise than its normal form, which
	// Targets have; else nil. The digest of the request is of these.
	Named  []Target
	Scope  Scope
	Reason string
	// Nonce is 32 random hexadecimal digits, or empty. With it, the digest of a
	// request's content tells nothing of the content to those who do not hold it.
	Nonce string
	// Deadline is until when it should be verified; zero for none.
	Deadline time.Time
}
