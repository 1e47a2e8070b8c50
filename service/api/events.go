package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"lethe/pipeline/view"
)

const (
	// eventsApart is how long changes are batched before they are sent.
	eventsApart = 250 * time.Millisecond
	// silenceAtMost is the maximum pause between messages, so that a lost client is detected.
	silenceAtMost = 15 * time.Second
)

// events streams which kinds of objects have changed, and how often since the process began. The
// events contain no personal data: clients query again.
func (a *API) events(w http.ResponseWriter, r *http.Request) {
	v := a.o.View()
	if v == nil {
		Refuse(w, http.StatusServiceUnavailable, "this process does not play view, or is starting; see /readyz")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	stream := http.NewResponseController(w)
	for {
		changes, next := v.Feed().Now()
		if writeChanges(w, stream, changes) != nil {
			return // the caller went away
		}
		if !a.wait(r, next, silenceAtMost) || !a.wait(r, nil, eventsApart) {
			return
		}
	}
}

// wait waits for a change, or for a time, and reports whether the stream goes on.
func (a *API) wait(r *http.Request, changed <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-r.Context().Done():
		return false
	case <-a.o.Ending:
		return false
	case <-changed:
	case <-timer.C:
	}
	return true
}

func writeChanges(w http.ResponseWriter, stream *http.ResponseController, changes map[view.Kind]uint64) error {
	data, err := json.Marshal(changes)
	if err == nil {
		// A client that does not read is disconnected.
		err = stream.SetWriteDeadline(time.Now().Add(silenceAtMost))
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "event: changes\ndata: %s\n\n", data)
	}
	if err == nil {
		err = stream.Flush()
	}
	return err
}
