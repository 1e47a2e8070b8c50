package deletions

import "time"

// GoneFolder is a role's folder in a data directory that another one has replaced with
// `lethe run --take-over`.
type GoneFolder struct {
	Role string `json:"role"`
	// Instance is the identity of the directory, and empty for Earlier ones of which only
	// the number is known.
	Instance   string    `json:"instance,omitempty"`
	Earlier    int       `json:"earlier,omitempty"`
	DeclaredAt time.Time `json:"declared_at,omitzero"`
}

// KeptStubs counts the stubs in a slice that stand for erased records.
type KeptStubs struct {
	SliceRef
	Stubs int `json:"stubs"`
}
