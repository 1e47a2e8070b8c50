package ingest

import (
	"errors"
	"fmt"
	"strings"

	"lethe"
)

// The command line and the web interface name targets by texts: ids hold no '>'.

// ErrTargetText refuses a text that names no target. It says what the text should be, and
// nothing of what it is.
var ErrTargetText = errors.New("not of the form")

// PaymentIn reads "A>B", the payment from one transaction to another.
func PaymentIn(text string) (lethe.Target, error) {
	source, target, joined := strings.Cut(text, ">")
	if !joined || source == target || !ValidID(source) || !ValidID(target) {
		return lethe.Target{}, errTargetText("A>B, with two transactions")
	}
	return lethe.PaymentBetween(lethe.TransactionID(source), lethe.TransactionID(target)), nil
}

// FeaturesIn reads "ID", all features of a transaction, or "ID>0,7", those at some positions.
func FeaturesIn(text string) (lethe.Target, error) {
	wrong := errTargetText("ID or ID>0,7, a transaction and positions of features, counted from 0")
	id, list, some := strings.Cut(text, ">")
	if !ValidID(id) {
		return lethe.Target{}, wrong
	}
	if !some {
		return lethe.FeaturesOf(lethe.TransactionID(id)), nil
	}
	columns, err := lethe.PositionsIn(list)
	if err != nil {
		return lethe.Target{}, wrong
	}
	return lethe.FeaturesOf(lethe.TransactionID(id), columns...), nil
}

func errTargetText(form string) error { return fmt.Errorf("%w %s", ErrTargetText, form) }
