package api

import (
	"net/http"
	"strings"

	"lethe/deletions"
	"lethe/pipeline/view"
)

// StatusPage is a page of the statuses of requests.
type StatusPage struct {
	Items      []deletions.Status `json:"items"`
	NextCursor *string            `json:"next_cursor"`
}

func erasures(v *view.Reader, r *http.Request) (any, error) {
	q := query{r: r}
	q.only("limit", "cursor")
	limit, after := q.limit(), q.cursor()
	if q.err != nil {
		return nil, q.err
	}
	list, next, err := v.Statuses(string(after), limit)
	if err != nil {
		return nil, err
	}
	out := StatusPage{Items: list}
	if next != "" {
		out.NextCursor = cursorOf([]byte(next))
	}
	return out, nil
}

func erasure(v *view.Reader, r *http.Request) (any, error) {
	return orNothing(v.Status(r.PathValue("key")))
}

// looked serves a question whose answer says something of erasures, once it is written down who looks.
// Where there is nothing to be seen nobody has looked.
func (a *API) looked(q question) question {
	return func(v *view.Reader, r *http.Request) (any, error) {
		answer, err := q(v, r)
		if err == nil {
			// Of several requests under one name the key has the digest behind it.
			requestID, _, _ := strings.Cut(r.PathValue("key"), "/")
			err = a.o.Actions.Look(r.Context(), requestID)
		}
		return answer, err
	}
}
