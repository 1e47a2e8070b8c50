package snapshot

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/closed"
)

// timesteps are the timesteps of a store, as staging stores them, and how far each partition is.
type timesteps struct {
	infos      map[lethe.Timestep]Info
	watermarks map[Stream][]lethe.Timestep
	// gone holds the timesteps that an erasure emptied, with the revision under which they were
	// deleted.
	gone map[lethe.Timestep]lethe.Revision
}

// Info returns the state and size of a timestep; one that is not known is open and empty.
func (s *timesteps) Info(t lethe.Timestep) Info {
	if i, found := s.infos[t]; found {
		return i
	}
	return Info{Timestep: t, State: lethe.Open, Previous: lethe.NoTimestep}
}

// Timesteps lists the known timesteps, and those of which only payments or labels have arrived,
// ascending.
func (s *timesteps) Timesteps() []Info { return ascending(s.infos) }

func ascending(infos map[lethe.Timestep]Info) []Info {
	out := make([]Info, 0, len(infos))
	for _, t := range slices.Sorted(maps.Keys(infos)) {
		out = append(out, infos[t])
	}
	return out
}

// newestOf returns the newest timestep of an ascending list that has reached a state, or
// NoTimestep.
func newestOf(infos []Info, state lethe.State) lethe.Timestep {
	for _, i := range slices.Backward(infos) {
		if i.State >= state {
			return i.Timestep
		}
	}
	return lethe.NoTimestep
}

// watermark returns the lowest watermark of a stream's partitions: timesteps below it accept no
// more records on time.
func (s *timesteps) watermark(stream Stream) lethe.Timestep { return slices.Min(s.watermarks[stream]) }

// Ready lists the timesteps that may be closed now and those that may be settled now, each ascending. Closing may make
// more ready to settle. Nothing settles before an earlier timestep that waits to be inserted: an open one below a
// closed one is listed by Waiting, not here.
func (s *timesteps) Ready() (toClose, toSettle []lethe.Timestep) {
	infos := s.Timesteps()
	newest := newestOf(infos, lethe.Closed)
	inserting := false
	for _, i := range infos {
		switch {
		case !i.known():
		case i.State == lethe.Open && i.Timestep < newest:
			inserting = true
		case i.State == lethe.Open && i.Timestep < s.watermark(Transactions):
			toClose = append(toClose, i.Timestep)
		case i.State == lethe.Closed && !inserting && i.Timestep < s.watermark(Labels):
			toSettle = append(toSettle, i.Timestep)
		}
	}
	return toClose, toSettle
}

// Waiting lists, in ascending order, the timesteps up to the newest closed one that late records
// would change: closed ones to be reopened, and open ones to be inserted.
func (s *timesteps) Waiting() []lethe.Timestep {
	infos := s.Timesteps()
	closed, settled := newestOf(infos, lethe.Closed), newestOf(infos, lethe.Settled)
	var out []lethe.Timestep
	for _, i := range infos {
		passed := i.Timestep < closed && i.Nodes+i.Payments > 0 || i.Timestep < settled && i.Labels > 0
		if i.Waiting > 0 || i.State == lethe.Open && passed {
			out = append(out, i.Timestep)
		}
	}
	return out
}

// Gone lists the timesteps that an erasure emptied, with the revision under which they were
// deleted: they must be deleted wherever they were published. A timestep that late records bring
// back has a higher revision and is no longer listed.
func (s *timesteps) Gone() map[lethe.Timestep]lethe.Revision { return maps.Clone(s.gone) }

// due returns the info of a timestep that is in ready, or has already reached the state.
// Errors: ErrUnknownTimestep, ErrNotReady.
func (s *timesteps) due(t lethe.Timestep, state lethe.State, ready []lethe.Timestep) (i Info, reached bool, err error) {
	i = s.Info(t)
	switch {
	case !i.known():
		return i, false, ErrUnknownTimestep
	case i.State >= state:
		return i, true, nil
	case !slices.Contains(ready, t):
		return i, false, fmt.Errorf("%w to be %s", ErrNotReady, state)
	}
	return i, false, nil
}

// files are the valid files of a timestep.
func (s *timesteps) files(t lethe.Timestep) closed.Files { return s.Info(t).Files }

// Revisions changes the revisions of timesteps, for a store that continues where another has published.
type Revisions struct{ staging *staging }

// Revisions returns the revisions of the store.
func (s *Store) Revisions() Revisions { return Revisions{s.staging} }

// Continue makes timesteps begin with the revision after the given ones, which a lost store
// published. The store must be empty.
func (r Revisions) Continue(last map[lethe.Timestep]lethe.Revision) error {
	err := r.staging.Apply(func(w swapstore.Writer) error {
		for t, revision := range last {
			w.Set(timestepKey(kindGone, t), binary.BigEndian.AppendUint32(nil, uint32(revision)))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("begin behind %d timesteps: %w", len(last), err)
	}
	maps.Copy(r.staging.gone, last)
	return nil
}

// Raise raises revisions above those that another process has published: closed timesteps get
// the next revision and must be republished, other timesteps begin with it. It is for a store
// that takes over from that process.
func (r Revisions) Raise(last map[lethe.Timestep]lethe.Revision) error {
	unknown, c := make(map[lethe.Timestep]lethe.Revision), r.staging.change()
	for _, at := range slices.Sorted(maps.Keys(last)) {
		if i := r.staging.Info(at); i.State == lethe.Open || i.Revision == 0 {
			unknown[at] = last[at]
		} else {
			c.raise(i, last[at])
		}
	}
	if err := c.apply(); err != nil {
		return err
	}
	return r.Continue(unknown)
}

// Adopt sets the revisions of closed timesteps to those under which another process has
// published the same content. It is for a store that takes over from that process.
func (r Revisions) Adopt(published map[lethe.Timestep]lethe.Revision) error {
	c := r.staging.change()
	for at, revision := range published {
		i := r.staging.Info(at)
		i.Revision = revision
		c.infos[at] = i
	}
	return c.apply()
}

// relink gives the next closed timestep after another one a new revision, because its predecessor
// changed.
func (c *changes) relink(after lethe.Timestep) {
	for _, i := range c.timesteps() {
		if i.Timestep > after && i.State > lethe.Open {
			c.raise(i, 0)
			return
		}
	}
}

// raise gives a closed timestep a new revision, above its own and above behind.
func (c *changes) raise(i Info, behind lethe.Revision) {
	i.Revision = max(i.Revision, behind) + 1
	i.Reopened = i.Revision
	if i.State == lethe.Settled {
		i.Previous = c.settledBefore(i.Timestep)
	}
	c.infos[i.Timestep] = i
}
