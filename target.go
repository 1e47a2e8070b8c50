package lethe

import (
	"errors"
	"fmt"
)

// TargetKind says what an erasure takes away.
type TargetKind string

// The kinds of target.
const (
	// TransactionTarget: a transaction, with its features, its label and every
	// payment that names it.
	TransactionTarget TargetKind = "transaction"
	// PaymentTarget: one payment; its two transactions stay.
	PaymentTarget TargetKind = "payment"
	// FeaturesTarget: features of a transaction, which itself stays.
	FeaturesTarget TargetKind = "features"
	// SubjectTarget: every transaction of one subject.
	SubjectTarget TargetKind = "subject"
)

// Target is what an erasure takes away, by the names it has in the records.
// Kind says which of the other fields count.
type Target struct {
	Kind TargetKind
	// Transaction is the transaction that goes, or whose features go.
	Transaction TransactionID
	// Payment is the payment that goes; its timestep does not count.
	Payment Payment
	// Columns are the features that go, counted from 0; none stands for all.
	Columns []int
	// Subject is the key of the subject that goes.
	Subject string
}

// ErrTarget refuses a target of a kind that cannot be erased yet. The text names
// the kind and the position, nothing of the target itself.
var ErrTarget = errors.New("only whole transactions can be erased yet")

// Transactions returns the targets that are these transactions.
func Transactions(ids ...TransactionID) []Target {
	targets := make([]Target, len(ids))
	for i, id := range ids {
		targets[i] = Target{Kind: TransactionTarget, Transaction: id}
	}
	return targets
}

// TransactionsOf returns the transactions that the targets are, in their order.
// It is the one place that refuses the other kinds: the error is ErrTarget.
func TransactionsOf(targets []Target) ([]TransactionID, error) {
	ids := make([]TransactionID, len(targets))
	for i, t := range targets {
		if t.Kind != TransactionTarget {
			return nil, fmt.Errorf("%w: target %d is of kind %q", ErrTarget, i, t.Kind)
		}
		ids[i] = t.Transaction
	}
	return ids, nil
}
