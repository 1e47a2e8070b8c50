// Package page makes a page of a receipt for people: one HTML document that needs nothing else,
// reads well on a screen and on paper, and says at the top whether the receipt was found valid.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
)

//go:embed page.html
var document string

// Page is what is shown.
type Page struct {
	Receipt receipt.Receipt
	// Verification is the outcome of a check; its signatures are listed.
	Verification receipt.Verification
	// Log says where the receipt is in the transparency log, empty if that was not shown.
	Log string
	// CheckedAt is when it was checked.
	CheckedAt time.Time
}

// Write writes the page. Nothing of the receipt is taken for HTML.
func Write(w io.Writer, p Page) error {
	t, err := template.New("receipt").Funcs(template.FuncMap{
		"time": func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04:05 UTC") },
		"short": func(d lethe.Digest) string {
			if d.IsZero() {
				return "none"
			}
			return d.String()[:16]
		},
		"seconds": func(ms *int64) string {
			if ms == nil {
				return "–"
			}
			return fmt.Sprintf("%.2f s", float64(*ms)/1000)
		},
		"words":   func(s any) string { return strings.ReplaceAll(fmt.Sprint(s), "_", " ") },
		"count":   countOutcomes,
		"finding": func(r receipt.Receipt) string { return r.Finding() },
	}).Parse(document)
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// countOutcomes says how many targets came to what, in the order in which the outcomes appear.
func countOutcomes(all []deletions.TargetOutcome) string {
	var order []string
	counts := make(map[string]int)
	for _, o := range all {
		name := strings.ReplaceAll(string(o.Outcome), "_", " ")
		if counts[name] == 0 {
			order = append(order, name)
		}
		counts[name]++
	}
	for i, name := range order {
		order[i] = fmt.Sprintf("%d %s", counts[name], name)
	}
	return strings.Join(order, ", ")
}
