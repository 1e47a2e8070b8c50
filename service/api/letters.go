package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/deadletters"
	"lethe/pipeline/view"
)

func letters(v *view.Reader, r *http.Request) (any, error) {
	q := query{r: r}
	q.only("reason", "topic", "limit", "cursor")
	asked := view.Letters{
		Reason: oneOf(&q, "reason", ingest.Reasons()), Topic: oneOf(&q, "topic", deadletters.Topics()),
		After: q.cursor(), Limit: q.limit(),
	}
	if q.err != nil {
		return nil, q.err
	}
	list, next, err := v.Letters(asked)
	if err != nil {
		return nil, err
	}
	return Page[view.Letter]{list, cursorOf(next)}, nil
}

// oneOf reads a parameter that is empty or an element of a list.
func oneOf[T ~string](q *query, name string, known []T) T {
	text := T(q.r.URL.Query().Get(name))
	if text != "" && !slices.Contains(known, text) {
		q.bad(name, "one of those that the description lists")
	}
	return text
}

func letter(v *view.Reader, r *http.Request) (any, error) {
	partition, err := strconv.ParseUint(r.PathValue("partition"), 10, 31)
	if err != nil {
		return nil, errNothing
	}
	offset, err := strconv.ParseInt(r.PathValue("offset"), 10, 64)
	if err != nil || offset < 0 {
		return nil, errNothing
	}
	return orNothing(v.Letter(bus.Topic(r.PathValue("topic")), int(partition), offset))
}

// maxReplay bounds the number of dead letters in one replay.
const maxReplay = 1000

// ReplayRequest requests a replay of records by their positions.
type ReplayRequest struct {
	Places []string `json:"places"`
}

// ReplayAnswer is the number of published records, and the errors of the others. The result is in
// the view as soon as the records are processed: their dead letters are deleted, or have the reason
// of another rejection.
type ReplayAnswer struct {
	Sent    int             `json:"sent"`
	Refused []RefusedLetter `json:"refused"`
}

// RefusedLetter is a dead letter that was not replayed.
type RefusedLetter struct {
	Place string `json:"place"`
	Why   string `json:"why"`
}

func (a *API) replay(_ *view.Reader, r *http.Request) (any, error) {
	var asked ReplayRequest
	if err := ReadBody(r, maxBody, &asked); err != nil {
		return nil, err
	}
	if n := len(asked.Places); n == 0 || n > maxReplay {
		return nil, NewProblem(http.StatusBadRequest, fmt.Sprintf("places has %d, want 1 to %d", n, maxReplay))
	}
	return a.o.Actions.Replay(r.Context(), asked.Places)
}
