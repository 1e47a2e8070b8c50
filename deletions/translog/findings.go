package translog

import (
	"errors"
	"fmt"
)

// Statement is the assertion of a check; the names are part of the command line.
type Statement string

// The statements.
const (
	// StatementLeaf: every leaf has a known kind and version.
	StatementLeaf Statement = "leaf"
	// StatementCheckpoint: the checkpoint is of this log and signed by its key.
	StatementCheckpoint Statement = "checkpoint"
	// StatementKey: every key was introduced by the previous one, and the trusted key is among them.
	StatementKey Statement = "key"
	// StatementTree: the leaves are those of the checkpoint.
	StatementTree Statement = "tree"
	// StatementConsistency: an older checkpoint is of a prefix of the log.
	StatementConsistency Statement = "consistency"
	// StatementReceipt: a receipt is in the log, as its proof shows.
	StatementReceipt Statement = "receipt"
	// StatementLedger: the log has every change of every request of the ledger.
	StatementLedger Statement = "ledger"
	// StatementOrder: the changes of every request are legal.
	StatementOrder Statement = "order"
	// StatementTopic: the data directory and log.v1 hold the same log.
	StatementTopic Statement = "topic"
)

// Refusal is a statement that does not hold.
type Refusal struct {
	Statement Statement `json:"statement"`
	// Problem describes the finding, without personal data.
	Problem string `json:"problem"`
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("transparency log: statement %s does not hold: %s", r.Statement, r.Problem)
}

func refuse(s Statement, format string, args ...any) *Refusal {
	return &Refusal{s, fmt.Sprintf(format, args...)}
}

// Findings are the statements that do not hold.
type Findings []*Refusal

func (f *Findings) take(s Statement, err error) {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		*f = append(*f, refusal)
	case err != nil:
		f.refuse(s, "%v", err)
	}
}

func (f *Findings) refuse(s Statement, format string, args ...any) {
	if len(*f) < maxFindings {
		*f = append(*f, refuse(s, format, args...))
	}
}

// maxFindings bounds the list: behind a missing leaf, everything is wrong.
const maxFindings = 50

// Err is nil without findings.
func (f Findings) Err() error {
	errs := make([]error, len(f))
	for i, r := range f {
		errs[i] = r
	}
	return errors.Join(errs...)
}
