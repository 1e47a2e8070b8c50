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

// Result follows from the outcomes of a verified request, which may have erased nothing.
type Result string

// The results.
const (
	// ResultErased: every target was held and is erased.
	ResultErased Result = "erased"
	// ResultAlreadyErased: another request erased every target.
	ResultAlreadyErased Result = "already_erased"
	// ResultPartlyHeld: some targets were erased, of others nothing was held.
	ResultPartlyHeld Result = "partly_held"
	// ResultNothingHeld: nothing was held of any target.
	ResultNothingHeld Result = "nothing_held"
)

// ResultOf returns the result of a verified request with these outcomes, or "" while one is undecided.
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

// NotHeld counts targets of which nothing was held.
func NotHeld(outcomes []TargetOutcome) (n int) {
	for _, o := range outcomes {
		if o.Outcome == OutcomeNothingHeld {
			n++
		}
	}
	return n
}

// Result is empty unless the request is verified.
func (s *Status) Result() Result {
	if s.State != Verified {
		return ""
	}
	return ResultOf(s.Outcomes)
}

// Headline is the state in a few words. Every surface shows this text, and it claims no more than the outcomes do.
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

// Summary is the headline and, if rejected or failed, the reason.
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

// AwaitsSignature reports whether another person must sign the request.
func (s *Status) AwaitsSignature() bool {
	return s.State == Held && s.WaitsFor != nil && s.WaitsFor.Signatures != nil
}

// WaitsFor are the causes that hold a request.
type WaitsFor struct {
	// Holds are those in force on a target.
	Holds []WaitsForHold `json:"holds,omitempty"`
	// Signatures is nil unless one is missing.
	Signatures *WaitsForSignatures `json:"signatures,omitempty"`
}

// Waits counts the open requests that wait, by reason.
type Waits struct {
	Held, Unsigned, Failed int
	// Absent are the data directories that have not acknowledged, ascending by role and instance.
	Absent []AbsentDirectory
}

// AbsentDirectory is a data directory that requests wait for.
type AbsentDirectory struct {
	Role, Instance string
	// Since is when the oldest request entered its state.
	Since time.Time
}

// WaitsForHold is a hold on a target.
type WaitsForHold struct {
	Name string `json:"hold_id"`
	// Until is zero for a hold without an end.
	Until time.Time `json:"until,omitzero"`
}

func (h WaitsForHold) text() string {
	if h.Until.IsZero() {
		return h.Name + " until it is lifted"
	}
	return fmt.Sprintf("%s until %s", h.Name, h.Until.UTC().Format(time.RFC3339))
}

// WaitsForSignatures counts people.
type WaitsForSignatures struct {
	Given  int `json:"given"`
	Needed int `json:"needed"`
}

// Equal reports whether both are equal, nil included.
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

// Report is a status with derived members, for commands and the API. erasure-status.v1 lacks these.
type Report struct {
	Status
	// Result is set if verified.
	Result  Result `json:"result,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// Report returns the status as shown.
func (s Status) Report() Report { return Report{s, s.Result(), s.Summary()} }

// Reports returns statuses as shown.
func Reports(list []Status) []Report {
	out := make([]Report, len(list))
	for i, s := range list {
		out[i] = s.Report()
	}
	return out
}

// AsksTheSame reports whether a request has the targets, deadline and, if it names one, scope of the status. A status
// has no reason.
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
	return maps.Equal(named, asked) && (r.Scope == "" || s.Scope == r.Scope) && sameDeadline
}
