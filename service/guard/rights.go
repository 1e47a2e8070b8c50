package guard

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Right is a set of permissions.
type Right uint8

// The rights.
const (
	// Read: see transactions, predictions, alerts, reasons, timesteps and models.
	Read Right = 1 << iota
	// Investigate: see dead letters, without their content.
	Investigate
	// Erase: see and make erasure requests, including their targets.
	Erase
	// Operate: replay dead letters.
	Operate
	// Judge: label a transaction, which publishes the label.
	Judge
)

// names returns the names of rights for the console.
func (r Right) names() []string {
	out := []string{}
	for _, one := range []struct {
		right Right
		name  string
	}{
		{Read, "read"}, {Investigate, "investigate"}, {Erase, "erase"}, {Operate, "operate"}, {Judge, "judge"},
	} {
		if r&one.right != 0 {
			out = append(out, one.name)
		}
	}
	return out
}

// roles are the roles of people, with their rights. Only compliance sees the targets of an erasure:
// operators need not know them.
func roles() map[string]Right {
	return map[string]Right{
		"viewer":     Read,
		"analyst":    Read | Investigate | Judge,
		"compliance": Read | Erase,
		"admin":      Read | Investigate | Operate,
	}
}

// Person is an authenticated caller.
type Person struct {
	// Name is the name in the file of tokens, or the one given by the token's issuer.
	Name   string
	Rights Right
	// Expires is when the token expires, zero for never.
	Expires time.Time
	// over is closed when the session ends, nil without a session.
	over <-chan struct{}
}

// Anybody has all rights: without tokens, everyone who can reach the process is its owner.
func Anybody() Person { return Person{Rights: Read | Investigate | Erase | Operate | Judge} }

// May reports whether the person has a right.
func (p Person) May(right Right) bool { return p.Rights&right == right }

// Needing wraps a handler so that it serves only people with a right.
func Needing(right Right, next http.HandlerFunc, refuse func(http.ResponseWriter, int, string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !PersonOf(r).May(right) {
			refuse(w, http.StatusForbidden, "the token's role may not do this")
			return
		}
		next(w, r)
	}
}

// RightsOf parses roles as in the file of tokens: separated by commas.
func RightsOf(list string) (all Right, err error) {
	known := roles()
	for role := range strings.SplitSeq(list, ",") {
		right, found := known[role]
		if !found {
			return 0, fmt.Errorf("role %.40q is not one of %s", role, strings.Join(Roles(), ", "))
		}
		all |= right
	}
	return all, nil
}

// Roles lists the roles of people.
func Roles() []string {
	var out []string
	for role := range roles() {
		out = append(out, role)
	}
	slices.Sort(out)
	return out
}
