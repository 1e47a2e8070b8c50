package dataset

import (
	"errors"
	"fmt"

	"lethe"
)

// checkPublished rejects a stream that has the transactions and features of Elliptic (Weber et al.
// 2019) without its payments and labels. Any other loss of whole rows is detected by comparing the
// files; the number of payments can only be compared with the published one.
func (t Totals) checkPublished(features int) error {
	const transactions, columns, steps, payments, illicit, licit = 203_769, 165, 49, 234_355, 4_545, 42_019
	if t.Transactions != transactions || features != columns {
		return nil
	}
	refuse := func(file, what string, got, want int) error {
		if got == want {
			return nil
		}
		return &RowError{File: file, Reason: fmt.Sprintf("%d %s for the %d transactions of Elliptic, which have %d", got,
			what, transactions, want)}
	}
	return errors.Join(
		refuse(FeaturesFile, "timesteps", t.Steps, steps),
		refuse(EdgesFile, "payments", t.Payments, payments),
		refuse(ClassesFile, "illicit labels", t.Labels[lethe.Illicit], illicit),
		refuse(ClassesFile, "licit labels", t.Labels[lethe.Licit], licit),
	)
}
