package api

import (
	"net/http"
	"time"

	"lethe/deletions"
	"lethe/pipeline/view"
)

// Hold keeps transactions and subjects from being erased. What it names is known by keyed hashes alone, and counted.
type Hold struct {
	Name string `json:"hold_id"`
	// State is in_force, ended or lifted.
	State        string `json:"state"`
	Transactions int    `json:"transactions"`
	Subjects     int    `json:"subjects"`
	// TooLate counts what had been erased, or was being erased, when the hold was set.
	TooLate int       `json:"too_late,omitempty"`
	SetAt   time.Time `json:"set_at"`
	// Until is zero for a hold that ends only when it is lifted.
	Until    time.Time `json:"until,omitzero"`
	LiftedAt time.Time `json:"lifted_at,omitzero"`
}

// HoldPage lists every hold, in the order in which they were set.
type HoldPage struct {
	Items []Hold `json:"items"`
}

// HoldRequest sets a hold. Ids stand in the body.
type HoldRequest struct {
	// Name names the hold; made up if it is empty.
	Name     string   `json:"hold_id,omitempty"`
	Nodes    []string `json:"nodes,omitempty"`
	Subjects []string `json:"subjects,omitempty"`
	// Reason is kept as a keyed hash alone.
	Reason string `json:"reason"`
	// Until is when the hold ends by itself.
	Until time.Time `json:"until,omitzero"`
}

func (a *API) holds(_ *view.Reader, r *http.Request) (any, string, error) {
	list, err := a.o.Actions.Holds(r.Context())
	return HoldPage{list}, "", err
}

func (a *API) setHold(_ *view.Reader, r *http.Request) (any, error) {
	var asked HoldRequest
	if err := readBody(r, &asked); err != nil {
		return nil, err
	}
	return a.o.Actions.SetHold(r.Context(), asked)
}

func (a *API) liftHold(_ *view.Reader, r *http.Request) (any, error) {
	return a.o.Actions.LiftHold(r.Context(), r.PathValue("name"))
}

// Signers are the people whose signatures a request has and lacks, by the names that the file of keys has for them.
type Signers struct {
	Signed []string `json:"signed"`
	// MaySign are the others whose key has the role compliance, of whom one must sign.
	MaySign []string `json:"may_sign"`
}

// signersOf names the people that a request which waits for a signature has and lacks. The file of keys says so: the
// ledger knows keys alone.
func (a *API) signersOf(s *deletions.Status) Signers {
	if a.o.Signers == nil || !s.AwaitsSignature() {
		return Signers{}
	}
	signed, others := a.o.Signers(s.SignedBy)
	return Signers{append([]string{}, signed...), append([]string{}, others...)}
}
