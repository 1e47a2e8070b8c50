package deletions

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lethe"
	"lethe/deletions/internal/record"
)

// Result says what an erasure that is verified has found. It follows from the outcomes of the targets:
// a request that was verified may have erased nothing.
type Result string

// The results.
const (
	// ResultErased: every target was held, and is erased.
	ResultErased Result = "erased"
	// ResultAlreadyErased: another request had erased every target, or was erasing it.
	ResultAlreadyErased Result = "already_erased"
	// ResultPartlyHeld: some of the targets were held and are erased, of others nothing was held.
	ResultPartlyHeld Result = "partly_held"
	// ResultNothingHeld: nothing was held of any target.
	ResultNothingHeld Result = "nothing_held"
)

// Results lists all of them.
func Results() []Result {
	return []Result{ResultErased, ResultAlreadyErased, ResultPartlyHeld, ResultNothingHeld}
}

// Valid reports whether the result is one of Results.
func (r Result) Valid() bool { return slices.Contains(Results(), r) }

// ResultOf returns the result of a verified request with these outcomes. It is empty while one is
// undecided.
func ResultOf(outcomes []TargetOutcome) Result {
	counts := make(map[Outcome]int)
	for _, o := range outcomes {
		counts[o.Outcome]++
	}
	missing := counts[OutcomeNothingHeld]
	switch {
	case len(outcomes) == 0 || counts[""]+counts[OutcomeHeld] > 0:
		return ""
	case missing == len(outcomes):
		return ResultNothingHeld
	case missing > 0:
		return ResultPartlyHeld
	case counts[OutcomeErased] == 0:
		return ResultAlreadyErased
	default:
		return ResultErased
	}
}

// NotHeld counts the targets of which nothing was held.
func NotHeld(outcomes []TargetOutcome) (n int) {
	for _, o := range outcomes {
		if o.Outcome == OutcomeNothingHeld {
			n++
		}
	}
	return n
}

// Result is that of a request that is verified; empty in every other state.
func (s *Status) Result() Result {
	if s.State != Verified {
		return ""
	}
	return ResultOf(s.Outcomes)
}

// Headline says in a few words where the request stands. Every surface shows this text, so that no two
// of them differ, and none claims more than the outcomes do.
func (s *Status) Headline() string {
	switch s.State {
	case Verified:
		return verifiedHeadline(s.Outcomes)
	case Held:
		return s.heldHeadline()
	case Erased:
		return "erased, not verified yet"
	case Failed:
		return "failed, will be retried"
	default:
		return string(s.State)
	}
}

// Summary is the headline with the reason behind it, if the request was rejected or has failed.
func (s *Status) Summary() string {
	if s.Failure == NoFailure {
		return s.Headline()
	}
	return fmt.Sprintf("%s: %s", s.Headline(), s.Failure)
}

func verifiedHeadline(outcomes []TargetOutcome) string {
	switch ResultOf(outcomes) {
	case ResultNothingHeld:
		return "nothing held"
	case ResultPartlyHeld:
		return fmt.Sprintf("verified, %d of %d targets not held", NotHeld(outcomes), len(outcomes))
	case ResultAlreadyErased:
		return "verified, erased by another request"
	default:
		return string(Verified)
	}
}

// heldHeadline says what the request waits for: holds, another signature, or both.
func (s *Status) heldHeadline() string {
	var parts []string
	w := s.WaitsFor
	if w == nil {
		return string(Held)
	}
	for _, hold := range w.Holds {
		parts = append(parts, "held by hold "+hold.text())
	}
	if n := w.Signatures; n != nil {
		which := "another"
		if n.Needed == 2 {
			which = "a second"
		}
		parts = append(parts, fmt.Sprintf("waits for %s signature: %d of %d", which, n.Given, n.Needed))
	}
	if len(parts) == 0 {
		return string(Held)
	}
	return strings.Join(parts, "; ")
}

// AwaitsSignature reports whether the request waits for the signature of one more person.
func (s *Status) AwaitsSignature() bool {
	return s.State == Held && s.WaitsFor != nil && s.WaitsFor.Signatures != nil
}

// WaitsFor says what a request in the state held waits for.
type WaitsFor struct {
	// Holds are those in force that keep a target.
	Holds []WaitsForHold `json:"holds,omitempty"`
	// Signatures is nil unless another person must sign the request.
	Signatures *WaitsForSignatures `json:"signatures,omitempty"`
}

// Waits counts the open requests that wait for somebody, by what they wait for.
type Waits struct {
	// Held wait for a hold, Unsigned for a signature; Failed have failed and are tried again.
	Held, Unsigned, Failed int
	// Absent are the data directories that have not answered yet, ascending by role and instance.
	Absent []AbsentDirectory
}

// AbsentDirectory is a data directory that requests wait for.
type AbsentDirectory struct {
	Role, Instance string
	// Since is when the oldest of the requests came to the state in which it waits.
	Since time.Time
}

// WaitsForHold is a hold that keeps a target.
type WaitsForHold struct {
	Name string `json:"hold_id"`
	// Until is zero for a hold that ends only when it is lifted.
	Until time.Time `json:"until,omitzero"`
}

func (h WaitsForHold) text() string {
	if h.Until.IsZero() {
		return h.Name + " until it is lifted"
	}
	return fmt.Sprintf("%s until %s", h.Name, h.Until.UTC().Format(time.RFC3339))
}

// WaitsForSignatures counts the people who have signed, and who must sign.
type WaitsForSignatures struct {
	Given  int `json:"given"`
	Needed int `json:"needed"`
}

// Equal reports whether both say the same; nil says nothing.
func (w *WaitsFor) Equal(other *WaitsFor) bool {
	if w == nil || other == nil {
		return w == other
	}
	same := func(a, b WaitsForHold) bool { return a.Name == b.Name && a.Until.Equal(b.Until) }
	if !slices.EqualFunc(w.Holds, other.Holds, same) || (w.Signatures == nil) != (other.Signatures == nil) {
		return false
	}
	return w.Signatures == nil || *w.Signatures == *other.Signatures
}

// Report is a status as commands and the API show it: with what follows from it. The record in
// erasure-status.v1 lacks these members.
type Report struct {
	Status
	// Result is set for a request that is verified.
	Result Result `json:"result,omitempty"`
	// Summary is Status.Summary.
	Summary string `json:"summary,omitempty"`
}

// Report returns the status as it is shown.
func (s Status) Report() Report { return Report{s, s.Result(), s.Summary()} }

// Reports returns statuses as they are shown.
func Reports(list []Status) []Report {
	out := make([]Report, len(list))
	for i, s := range list {
		out[i] = s.Report()
	}
	return out
}

// AsksTheSame reports whether a request has the targets, the scope and the deadline of the status's. A status does not
// say why it was asked for.
func (s *Status) AsksTheSame(secret lethe.Secret, r lethe.ErasureRequest) bool {
	named := make(map[lethe.Digest]bool)
	for _, o := range s.Outcomes {
		named[o.Target] = true
	}
	asked := make(map[lethe.Digest]bool)
	for _, t := range r.Targets {
		asked[secret.Suppressed(t)] = true
	}
	sameDeadline := s.Deadline.IsZero() == r.Deadline.IsZero() && (r.Deadline.IsZero() ||
		s.Deadline.Equal(record.Time(r.Deadline)))
	return maps.Equal(named, asked) && s.Scope == r.Scope && sameDeadline
}
