// Package page renders a receipt as a self-contained HTML document for screen and paper, with the result of its
// check at the top.
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

// Page is a receipt to be read by people.
type Page struct {
	Receipt receipt.Receipt
	// Verification has the listed signatures.
	Verification receipt.Verification
	// Log is the place in the transparency log, empty if not shown.
	Log       string
	CheckedAt time.Time
}

// Write writes the page, with the receipt escaped.
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

// countOutcomes counts targets by outcome, in order of appearance.
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
