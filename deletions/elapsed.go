package deletions

// Elapsed are the milliseconds from receipt of a request to its first time in each state; nil for a state not
// reached.
type Elapsed struct {
	Suppressed *int64 `json:"suppressed,omitempty"`
	Swapped    *int64 `json:"swapped,omitempty"`
	Erased     *int64 `json:"erased,omitempty"`
	Verified   *int64 `json:"verified,omitempty"`
}

// StateTime is the time until a state was reached.
type StateTime struct {
	State        State
	Milliseconds int64
}

// Elapsed returns the known times of the request.
func (e *Entry) Elapsed() Elapsed {
	var out Elapsed
	fields := out.fields()
	for _, c := range e.History {
		if field := fields[c.State]; field != nil && *field == nil {
			ms := c.At.Sub(e.Received()).Milliseconds()
			*field = &ms
		}
	}
	return out
}

// Known lists the known times in the order of the states.
func (t *Elapsed) Known() (out []StateTime) {
	fields := t.fields()
	for _, state := range States() {
		if field := fields[state]; field != nil && *field != nil {
			out = append(out, StateTime{state, **field})
		}
	}
	return out
}

func (t *Elapsed) fields() map[State]**int64 {
	return map[State]**int64{
		Suppressed: &t.Suppressed, Swapped: &t.Swapped, Erased: &t.Erased, Verified: &t.Verified,
	}
}

// Ascending reports whether the times follow the order of the states.
func (t *Elapsed) Ascending() bool {
	last := int64(0)
	for _, known := range t.Known() {
		if known.Milliseconds < last {
			return false
		}
		last = known.Milliseconds
	}
	return true
}
