package lethe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	// FeaturesTarget: features of a transaction, which become 0; the transaction stays.
	FeaturesTarget TargetKind = "features"
	// SubjectTarget: every transaction and payment that carries a subject.
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
	Columns Columns
	// Subject is the key of the subject that goes, up to and including the timestep Until.
	// That is NoTimestep as long as it is not decided: what is newest when the request is
	// accepted.
	Subject string
	Until   Timestep
}

// ErrTarget refuses a target that cannot be erased. The text names the kind, nothing of
// the target itself.
var ErrTarget = errors.New("target cannot be erased")

// Transactions returns the targets that are these transactions.
func Transactions(ids ...TransactionID) []Target {
	targets := make([]Target, len(ids))
	for i, id := range ids {
		targets[i] = Target{Kind: TransactionTarget, Transaction: id}
	}
	return targets
}

// PaymentBetween returns the target that is the payment from one transaction to another.
func PaymentBetween(source, target TransactionID) Target {
	return Target{Kind: PaymentTarget, Payment: Payment{Source: source, Target: target}}
}

// SubjectThrough returns the target that is what a subject carries up to and including a
// timestep, NoTimestep for one to be decided.
func SubjectThrough(subject string, until Timestep) Target {
	return Target{Kind: SubjectTarget, Subject: subject, Until: until}
}

// Check refuses a target that names nothing, or is of a kind that cannot be erased yet.
func (t Target) Check() error {
	var named bool
	switch t.Kind {
	case TransactionTarget:
		named = t.Transaction != ""
	case PaymentTarget:
		named = t.Payment.Source != "" && t.Payment.Target != "" && t.Payment.Source != t.Payment.Target
	case FeaturesTarget:
		if err := t.Columns.Check(); err != nil {
			return fmt.Errorf("%w: %w", ErrTarget, err)
		}
		named = t.Transaction != ""
	case SubjectTarget:
		named = t.Subject != ""
	default:
		return fmt.Errorf("%w yet: it is of kind %q", ErrTarget, t.Kind)
	}
	if !named {
		return fmt.Errorf("%w: it is of kind %q and names nothing", ErrTarget, t.Kind)
	}
	return nil
}

// CheckTargets is Check of several targets; the error names the position of the first that
// is refused.
func CheckTargets(targets []Target) error {
	for i, t := range targets {
		if err := t.Check(); err != nil {
			return fmt.Errorf("target %d: %w", i, err)
		}
	}
	return nil
}

// TargetName tells targets apart and can be compared. It holds what the target names and
// stays in memory, as that does.
type TargetName struct {
	kind        TargetKind
	first, last string
}

// Name returns what tells the target apart from others.
func (t Target) Name() TargetName {
	switch t.Kind {
	case PaymentTarget:
		return TargetName{t.Kind, string(t.Payment.Source), string(t.Payment.Target)}
	case FeaturesTarget:
		return TargetName{t.Kind, string(t.Transaction), t.Columns.String()}
	case SubjectTarget:
		return TargetName{t.Kind, t.Subject, ""}
	default:
		return TargetName{t.Kind, string(t.Transaction), ""}
	}
}

// Distinct returns the targets, each once, in their order.
func Distinct(targets []Target) (out []Target) {
	known := make(map[TargetName]bool, len(targets))
	for _, t := range targets {
		if name := t.Name(); !known[name] {
			known[name] = true
			out = append(out, t)
		}
	}
	return out
}

// Columns are features by their positions, counted from 0 and ascending. None stands for
// all.
type Columns []int

// String lists the positions, separated by commas; empty for all.
func (c Columns) String() string {
	var out []byte
	for i, column := range c {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(column), 10)
	}
	return string(out)
}

// Hold reports whether a position is among the columns.
func (c Columns) Hold(column int) bool {
	return len(c) == 0 || slices.Contains(c, column)
}

// Suppressed is the keyed hash under which an erased target is remembered, so that what
// comes of it later can be dropped. It cannot be linked to pseudonyms, or to the hashes of
// other targets, without the secret.
func (s Secret) Suppressed(t Target) Digest {
	switch t.Kind {
	case PaymentTarget:
		return s.SuppressedPayment(t.Payment.Source, t.Payment.Target)
	case FeaturesTarget:
		return s.Ledger().Hash("suppression-features", []byte(t.Transaction), []byte(t.Columns.String()))
	case SubjectTarget:
		return s.SuppressedSubject(t.Subject)
	default:
		return s.Suppression(t.Transaction)
	}
}

// SuppressedPayment is Suppressed of a payment.
func (s Secret) SuppressedPayment(source, target TransactionID) Digest {
	return s.Ledger().Hash("suppression-payment", []byte(source), []byte(target))
}

// SuppressedSubject is Suppressed of a subject.
func (s Secret) SuppressedSubject(subject string) Digest {
	return s.Ledger().Hash("suppression-subject", []byte(subject))
}

// SubjectUntil is a subject that is erased, by its keyed hash (SuppressedSubject), and the
// last timestep of what goes. What carries the subject later is taken, so that nobody becomes
// invisible by erasing himself.
type SubjectUntil struct {
	Target Digest   `json:"target"`
	Until  Timestep `json:"until"`
}
