package guard

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Right is something that people may do.
type Right uint8

// The rights.
const (
	// Read: see transactions, predictions, alerts, reasons, timesteps and models.
	Read Right = 1 << iota
	// Investigate: see dead letters, without their content.
	Investigate
	// Erase: see the requests for erasure and who they name, and make them.
	Erase
	// Operate: send dead letters again.
	Operate
	// Judge: say of a transaction what it was, which is published as its label.
	Judge
)

// names are what pages call rights.
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

// roles are what people are, with their rights. Only compliance sees what an erasure names: who
// runs the machine need not know.
func roles() map[string]Right {
	return map[string]Right{
		"viewer":     Read,
		"analyst":    Read | Investigate | Judge,
		"compliance": Read | Erase,
		"admin":      Read | Investigate | Operate,
	}
}

// Person is who asks.
type Person struct {
	// Name is what the file of tokens calls him, or the issuer of his token.
	Name   string
	Rights Right
	// Expires is when his token does, zero for never.
	Expires time.Time
	// over is closed when his session ends, nil if he has none.
	over <-chan struct{}
}

// Anybody may do everything: where there are no tokens, who reaches the process owns it.
func Anybody() Person { return Person{Rights: Read | Investigate | Erase | Operate | Judge} }

// May reports whether he may do something.
func (p Person) May(right Right) bool { return p.Rights&right == right }

// Needing serves a handler to those who have a right, and refuses the others.
func Needing(right Right, next http.HandlerFunc, refuse func(http.ResponseWriter, int, string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !PersonOf(r).May(right) {
			refuse(w, http.StatusForbidden, "the token's role may not do this")
			return
		}
		next(w, r)
	}
}

// RightsOf reads roles as they stand in the file of tokens: joined by commas.
func RightsOf(list string) (all Right, err error) {
	known := roles()
	for role := range strings.SplitSeq(list, ",") {
		right, found := known[role]
		if !found {
			return 0, fmt.Errorf("role %.40q is none of %s", role, strings.Join(Roles(), ", "))
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
