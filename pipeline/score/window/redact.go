package window

import (
	"time"

	"lethe"
)

// Redact sets these features of transactions to 0, now and when they arrive. The transactions and their neighbours are
// queued for a new score.
func (w *Window) Redact(list []lethe.Redaction) {
	if len(list) == 0 {
		return
	}
	for _, r := range list {
		w.redacted.Add(r)
	}
	for _, step := range w.steps {
		for _, p := range step {
			columns, redacted := w.redacted.Of(w.secret, p.id)
			if !redacted || !p.here() {
				continue
			}
			zeroed, changed := columns.Zeroed(p.features)
			if p.features = zeroed; changed {
				w.wait(p, time.Time{})
				p.neighbours(func(other *place) { w.wait(other, time.Time{}) })
			}
		}
	}
}
