package api

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"

	"lethe"
	"lethe/pipeline/view"
)

// The bounds of pages and bodies.
const (
	defaultLimit = 50
	maxLimit     = 500
	maxBody      = 1 << 20
)

// query reads the parameters of a URL, and stores the first error.
type query struct {
	r   *http.Request
	err error
}

// bad rejects a parameter. Its value is not repeated: it may be an id.
func (q *query) bad(name, want string) {
	if q.err == nil {
		q.err = problem(http.StatusBadRequest, fmt.Sprintf("%s is not valid: want %s", name, want))
	}
}

// only rejects unknown parameters: a misspelled filter would otherwise return everything.
func (q *query) only(names ...string) {
	known := make(map[string]bool, len(names))
	for _, n := range names {
		known[n] = true
	}
	for name, values := range q.r.URL.Query() {
		if !known[name] || len(values) != 1 {
			if q.err == nil {
				q.err = problem(http.StatusBadRequest, "a parameter is not known here, or given twice")
			}
		}
	}
}

// whole reads an integer from 1 to most.
func (q *query) whole(name string, otherwise, most int) int {
	text := q.r.URL.Query().Get(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		q.bad(name, fmt.Sprintf("a whole number from 1 to %d", most))
	}
	return n
}

// share reads a number between 0 and 1.
func (q *query) share(name string, otherwise float64) float64 {
	text := q.r.URL.Query().Get(name)
	if text == "" {
		return otherwise
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= 1) {
		q.bad(name, "a number from 0 to 1")
	}
	return x
}

// timestep reads a timestep, nil if it is absent.
func (q *query) timestep(name string) *lethe.Timestep {
	text := q.r.URL.Query().Get(name)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		q.bad(name, "a whole number from 0")
	}
	t := lethe.Timestep(n)
	return &t
}

// limit reads the requested page size.
func (q *query) limit() int { return q.whole("limit", defaultLimit, maxLimit) }

// cursor reads the position at which the previous page ended.
func (q *query) cursor() []byte {
	text := q.r.URL.Query().Get("cursor")
	if text == "" {
		return nil
	}
	at, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(at) == 0 {
		q.bad("cursor", "next_cursor of the page before")
	}
	return at
}

// cursorOf is the cursor of a page that ended at a position; null for the last page.
func cursorOf(at []byte) *string {
	if at == nil {
		return nil
	}
	text := base64.RawURLEncoding.EncodeToString(at)
	return &text
}

// refIn reads the reference in the path. ok is false if it is malformed.
func refIn(r *http.Request) (ref view.Ref, ok bool) {
	return ref, ref.UnmarshalText([]byte(r.PathValue("ref"))) == nil
}

// readBody reads a JSON body.
func readBody(r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return problem(http.StatusUnsupportedMediaType, "send application/json")
	}
	body := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody))
	body.DisallowUnknownFields()
	if err := body.Decode(into); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return problem(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", large.Limit))
		}
		// The invalid value may be an id.
		return problem(http.StatusBadRequest, "the body is no JSON object of the fields that /api/v1/openapi.json "+
			"has for this address")
	}
	return nil
}
