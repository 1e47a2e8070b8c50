package api

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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
		q.err = NewProblem(http.StatusBadRequest, fmt.Sprintf("%s is not valid: want %s", name, want))
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
				q.err = NewProblem(http.StatusBadRequest, "a parameter is not known here, or given twice")
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

// Page is a page of a list.
type Page[T any] struct {
	Items []T `json:"items"`
	// NextCursor is null on the last page.
	NextCursor *string `json:"next_cursor"`
}

// newestFirst returns a page of a list with the newest timestep first.
func newestFirst[T any](
	r *http.Request, list func(before lethe.Timestep, limit int) ([]T, bool, error), of func(T) lethe.Timestep,
) (any, error) {
	q := query{r: r}
	q.only("limit", "cursor")
	limit, before := q.limit(), q.before()
	if q.err != nil {
		return nil, q.err
	}
	items, more, err := list(before, limit)
	if err != nil {
		return nil, err
	}
	out := Page[T]{Items: items}
	if more && len(items) > 0 {
		out.NextCursor = cursorOf(binary.BigEndian.AppendUint64(nil, uint64(of(items[len(items)-1]))))
	}
	return out, nil
}

// before reads the cursor of such a list.
func (q *query) before() lethe.Timestep {
	after := q.cursor()
	switch {
	case after == nil:
		return math.MaxInt64
	case len(after) != 8:
		if q.err == nil {
			q.err = view.ErrCursor
		}
		return 0
	default:
		return lethe.Timestep(binary.BigEndian.Uint64(after))
	}
}

// acting returns a query that carries out an action on what the body of the request asks for.
func acting[Q, A any](act func(context.Context, Q) (A, error)) question {
	return func(_ *view.Reader, r *http.Request) (any, error) {
		var asked Q
		if err := ReadBody(r, maxBody, &asked); err != nil {
			return nil, err
		}
		return act(r.Context(), asked)
	}
}

// refIn reads the reference in the path. ok is false if it is malformed.
func refIn(r *http.Request) (ref view.Ref, ok bool) {
	return ref, ref.UnmarshalText([]byte(r.PathValue("ref"))) == nil
}

// ReadBody reads a JSON body of at most so many bytes. Its error is a Problem.
func ReadBody(r *http.Request, most int64, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return NewProblem(http.StatusUnsupportedMediaType, "send application/json")
	}
	body := json.NewDecoder(http.MaxBytesReader(nil, r.Body, most))
	body.DisallowUnknownFields()
	if err := body.Decode(into); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return NewProblem(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", large.Limit))
		}
		// The invalid value may be an id.
		return NewProblem(http.StatusBadRequest, "the body is no JSON object of the fields that /api/v1/openapi.json "+
			"has for this address")
	}
	return nil
}
