package api

import (
	"net/http"
	"time"

	"lethe/deletions"
	"lethe/pipeline/view"
)

// Hold protects transactions and subjects from erasure. Its targets are known only by keyed hashes, and counted.
type Hold struct {
	Name string `json:"hold_id"`
	// State is in_force, ended or lifted.
	State        string `json:"state"`
	Transactions int    `json:"transactions"`
	Subjects     int    `json:"subjects"`
	// TooLate counts targets that had been erased, or were being erased, when the hold was set.
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

// HoldRequest sets a hold. Ids are in the body.
type HoldRequest struct {
	// Name identifies the hold; it is generated if empty.
	Name     string   `json:"hold_id,omitempty"`
	Nodes    []string `json:"nodes,omitempty"`
	Subjects []string `json:"subjects,omitempty"`
	// Reason is stored only as a keyed hash.
	Reason string `json:"reason"`
	// Until is when the hold ends automatically.
	Until time.Time `json:"until,omitzero"`
}

func (a *API) holds(_ *view.Reader, r *http.Request) (any, string, error) {
	list, err := a.o.Actions.Holds(r.Context())
	return HoldPage{list}, "", err
}

func (a *API) liftHold(_ *view.Reader, r *http.Request) (any, error) {
	return a.o.Actions.LiftHold(r.Context(), r.PathValue("name"))
}

// Signers are the people who have signed a request and those who may, by their names in the file of keys.
type Signers struct {
	Signed []string `json:"signed"`
	// MaySign are the other people whose key has the role compliance, one of whom must sign.
	MaySign []string `json:"may_sign"`
}

// signersOf returns the people who have signed and who may sign a request that waits for a signature. The names
// come from the file of keys: the ledger has only keys.
func (a *API) signersOf(s *deletions.Status) Signers {
	if a.o.Signers == nil || !s.AwaitsSignature() {
		return Signers{}
	}
	signed, others := a.o.Signers(s.SignedBy)
	return Signers{append([]string{}, signed...), append([]string{}, others...)}
}
