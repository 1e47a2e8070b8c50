package api

import (
	"crypto/ed25519"
	_ "embed"
	"log/slog"
	"net/http"

	"lethe/pipeline/view"
	"lethe/scoring/ensemble"
	"lethe/service/guard"
)

// Prefix begins every path.
const Prefix = "/api/v1"

// Options configures the interface.
type Options struct {
	// View returns the data to serve; nil while the process has none.
	View func() *view.Reader
	// Status responds with the state of the process, Plan with the effects of an erasure.
	Status, Plan http.HandlerFunc
	// Keys returns the keys that sign receipts and the log, and their predecessors, the newest
	// first; none if the process does not have them.
	Keys    func() []ed25519.PublicKey
	Actions Actions
	// Signers splits the people who may sign requests into those who have signed with these keys, and the others;
	// nil if the process does not know them.
	Signers func(keyIDs []string) (signed, others []string)
	// Layout defines the models of the ensemble.
	Layout ensemble.Layout
	// Ending is closed when streams without an end must end.
	Ending <-chan struct{}
	Logger *slog.Logger
}

// API serves the interface.
type API struct{ o Options }

// New returns the interface with these options.
func New(o Options) *API { return &API{o} }

// Route is one operation of the interface.
type Route struct {
	Method string
	// Path is a pattern of net/http, without Prefix.
	Path string
	// Needs is the required right.
	Needs guard.Right
	serve http.HandlerFunc
}

// Routes lists all routes.
func (a *API) Routes() []Route {
	return []Route{
		{http.MethodGet, "/openapi.json", guard.Read, serveDescription},
		{http.MethodGet, "/status", guard.Read, a.o.Status},
		{http.MethodGet, "/events", guard.Read, a.events},
		{http.MethodPost, "/transactions/lookup", guard.Read, a.asked(lookUp)},
		{http.MethodGet, "/transactions/{ref}", guard.Read, a.asked(transaction)},
		{http.MethodGet, "/transactions/{ref}/reasons", guard.Read, a.asked(reasonsOf)},
		{http.MethodGet, "/transactions/{ref}/neighbourhood", guard.Read, a.asked(neighbourhood)},
		{http.MethodPost, "/transactions/{ref}/label", guard.Judge, a.asked(a.label)},
		{http.MethodGet, "/predictions", guard.Read, a.asked(predictions)},
		{http.MethodGet, "/alerts", guard.Read, a.asked(alerts)},
		{http.MethodGet, "/timesteps", guard.Read, a.asked(timesteps)},
		{http.MethodGet, "/timesteps/{timestep}", guard.Read, a.asked(timestep)},
		{http.MethodGet, "/timesteps/{timestep}/shards", guard.Read, a.asked(shards)},
		{http.MethodGet, "/quality", guard.Read, a.asked(quality)},
		{http.MethodGet, "/ensembles", guard.Read, a.asked(ensembles)},
		{http.MethodGet, "/ensembles/changes", guard.Read, a.asked(ensembleChanges)},
		{http.MethodGet, "/groups", guard.Read, a.asked(a.groups)},
		{http.MethodGet, "/erasures", guard.Erase, a.asked(a.looked(erasures))},
		{http.MethodGet, "/erasures/{key}", guard.Erase, a.asked(a.looked(a.erasure))},
		{http.MethodPost, "/erasures/plan", guard.Erase, a.o.Plan},
		{http.MethodPost, "/erasures", guard.Erase, a.asked(acting(a.o.Actions.Submit))},
		{http.MethodPost, "/erasures/{key}/cancel", guard.Erase, a.asked(a.cancel)},
		{http.MethodGet, "/erasures/{key}/receipt", guard.Erase, a.asked(a.looked(receipt))},
		{http.MethodGet, "/holds", guard.Erase, a.asked(a.looked(a.holds))},
		{http.MethodPost, "/holds", guard.Erase, a.asked(acting(a.o.Actions.SetHold))},
		{http.MethodPost, "/holds/{name}/lift", guard.Erase, a.asked(a.liftHold)},
		{http.MethodGet, "/log", guard.Read, a.asked(checkpoint)},
		{http.MethodGet, "/log/keys", guard.Read, a.asked(a.keys)},
		{http.MethodGet, "/log/leaves", guard.Read, a.asked(leaves)},
		{http.MethodGet, "/log/leaves/{index}/proof", guard.Read, a.asked(proof)},
		{http.MethodGet, "/dead-letters", guard.Investigate, a.asked(letters)},
		{http.MethodGet, "/dead-letters/{topic}/{partition}/{offset}", guard.Investigate, a.asked(letter)},
		{http.MethodPost, "/dead-letters/replay", guard.Operate, a.asked(a.replay)},
	}
}

// Handler serves the routes. Other paths under Prefix give a problem.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, route := range a.Routes() {
		mux.HandleFunc(route.Method+" "+Prefix+route.Path, guard.Needing(route.Needs, route.serve, Refuse))
	}
	return unknown{mux}
}

// unknown responds with problems to requests without a route.
type unknown struct{ *http.ServeMux }

// ServeHTTP implements http.Handler.
func (u unknown) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := u.Handler(r); pattern != "" {
		u.ServeMux.ServeHTTP(w, r)
		return
	}
	// The mux knows the allowed methods.
	probe := &discarding{header: make(http.Header)}
	u.ServeMux.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", probe.header.Get("Allow"))
		Refuse(w, http.StatusMethodNotAllowed, "the address is not asked so; see the header Allow")
		return
	}
	Refuse(w, http.StatusNotFound, "nothing is at this address; "+Prefix+"/openapi.json says what there is")
}

// discarding records the status and headers of a response.
type discarding struct {
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (d *discarding) Header() http.Header { return d.header }

// Write implements http.ResponseWriter.
func (d *discarding) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements http.ResponseWriter.
func (d *discarding) WriteHeader(status int) { d.status = status }

//go:embed openapi.json
var description []byte

// Description returns the OpenAPI document.
func Description() []byte { return description }

func serveDescription(w http.ResponseWriter, r *http.Request) {
	answerBytes(w, r, "application/json", Description())
}
