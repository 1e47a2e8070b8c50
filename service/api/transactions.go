package api

import (
	"fmt"
	"net/http"

	"lethe"
	"lethe/pipeline/view"
	"lethe/scoring"
)

// maxLookup bounds the number of transactions in one lookup.
const maxLookup = 100

// LookupRequest looks up transactions by their ids.
type LookupRequest struct {
	IDs []string `json:"ids"`
}

// LookupAnswer has the known transactions, in the order of the request. It has no details on the
// others: whether one never existed or was erased must not be revealed.
type LookupAnswer struct {
	Transactions []*view.Transaction `json:"transactions"`
	// Missing are the positions of unknown ids.
	Missing []int `json:"missing"`
}

func lookUp(v *view.Reader, r *http.Request) (any, error) {
	var asked LookupRequest
	if err := ReadBody(r, maxBody, &asked); err != nil {
		return nil, err
	}
	if n := len(asked.IDs); n == 0 || n > maxLookup {
		return nil, NewProblem(http.StatusBadRequest, fmt.Sprintf("ids has %d, want 1 to %d", n, maxLookup))
	}
	out := LookupAnswer{Transactions: []*view.Transaction{}, Missing: []int{}}
	for i, id := range asked.IDs {
		name := v.NameOf(id)
		if !lethe.ValidID(string(name)) {
			return nil, NewProblem(http.StatusBadRequest, fmt.Sprintf("id %d is not valid: want %s", i, lethe.IDForm))
		}
		found, err := v.Transaction(v.RefOf(name))
		if err != nil {
			return nil, err
		}
		if found == nil {
			out.Missing = append(out.Missing, i)
			continue
		}
		out.Transactions = append(out.Transactions, found)
	}
	return out, nil
}

func transaction(v *view.Reader, r *http.Request) (any, error) {
	ref, ok := refIn(r)
	if !ok {
		return nil, errNothing
	}
	return orNothing(v.Transaction(ref))
}

func reasonsOf(v *view.Reader, r *http.Request) (any, error) {
	ref, ok := refIn(r)
	if !ok {
		return nil, errNothing
	}
	return orNothing(v.Reasons(ref))
}

// The bounds of neighbourhoods.
const (
	maxDistance       = 3
	maxNeighbours     = 500
	defaultNeighbours = 100
)

func neighbourhood(v *view.Reader, r *http.Request) (any, error) {
	q := query{r: r}
	q.only("distance", "limit")
	distance := q.whole("distance", 1, maxDistance)
	limit := q.whole("limit", defaultNeighbours, maxNeighbours)
	ref, ok := refIn(r)
	if q.err == nil && !ok {
		q.err = errNothing
	}
	if q.err != nil {
		return nil, q.err
	}
	return orNothing(v.Neighbourhood(ref, distance, limit))
}

// Scored is a prediction with its reference.
type Scored struct {
	Ref view.Ref `json:"ref"`
	*scoring.Prediction
}

func predictions(v *view.Reader, r *http.Request) (any, error) { return scored(v, r, false) }

func alerts(v *view.Reader, r *http.Request) (any, error) { return scored(v, r, true) }

// scored responds with predictions, the highest probability first.
func scored(v *view.Reader, r *http.Request, alerts bool) (any, error) {
	q := query{r: r}
	q.only("timestep", "min_probability", "max_probability", "limit", "cursor")
	asked := view.Query{
		Timestep: q.timestep("timestep"), Alerts: alerts, Least: q.share("min_probability", 0),
		Most: q.share("max_probability", 1), After: q.cursor(), Limit: q.limit(),
	}
	if q.err != nil {
		return nil, q.err
	}
	list, next, err := v.Predictions(asked)
	if err != nil {
		return nil, err
	}
	out := Page[Scored]{Items: make([]Scored, len(list)), NextCursor: cursorOf(next)}
	for i, p := range list {
		out.Items[i] = Scored{v.RefOf(p.Transaction), p}
	}
	return out, nil
}
