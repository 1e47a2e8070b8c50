package worlds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

const (
	// patience bounds turns and ticks until a world comes to rest.
	patience = 4000
	ticks    = 200
	// quietTicks are those after which nothing more is to come: more than what is waited for
	// between a late record and the models that learnt from it.
	quietTicks = 9
	// removedTick is when an operator removes the batches that nobody can read: after those that these hold up have
	// failed, and been tried again, a few times.
	removedTick = 12
)

// simulation is a world that is being played: the process that runs, and the one that goes
// on with what it leaves once it is killed.
type simulation struct {
	world   world
	current *deployment
	// successor is set under the lock of the running process's disk: the kill may come from
	// a goroutine of a store.
	successor *deployment
	// killed counts the processes that were killed.
	killed int
	// backup is what was copied at the position made, or nil.
	backup *deployment
	made   int
}

// play sends a world to the deployment and lets it come to rest. If the process is
// killed on the way, another goes on with what is left of it, and is returned.
func (d *deployment) play(ctx context.Context, w world) (*deployment, error) {
	s := &simulation{world: w, current: d}
	s.planCrashes(d, w.crashes)
	d.patience, d.window, d.config = w.patience, w.window, w.config
	d.oneHop, d.independent, d.crew, d.groups = w.oneHop, w.independent, crewOf(w.trainers), groupsOf(w)
	if w.newcomers[ofTrain] {
		d.crew = d.crew.without()
	}
	var err error
	if d.models, err = modelsOf(w.components); err != nil {
		return d, err
	}
	if err := d.start(ctx); err != nil {
		return d, err
	}
	for _, events := range [][]event{w.events, w.lastTimestep()} {
		for at, e := range events {
			apply := func() error { return s.apply(ctx, e) }
			if e.operation != nil {
				apply = func() error { return s.operate(ctx, at) }
			}
			if err := apply(); err != nil {
				return s.current, err
			}
		}
		if err := s.settle(ctx); err != nil {
			return s.current, err
		}
		if err := s.current.topics.log.witness.rests(s.current.models); err != nil {
			return s.current, err
		}
		if err := s.current.commanded(ctx); err != nil {
			return s.current, err
		}
	}
	if s.killed < len(w.crashes) {
		return s.current, fmt.Errorf("%d processes were killed, want %d", s.killed, len(w.crashes))
	}
	return s.current, nil
}

// withCrashes says at which write each process ends: the world is played without that end
// first, to count how many writes there are.
func (w world) withCrashes(ctx context.Context, t testing.TB) (world, error) {
	all := w.crashes
	w.crashes = nil
	for _, next := range all {
		d, err := newDeployment(t).play(ctx, w)
		if err != nil {
			return w, err
		}
		next.at = 1 + int64(next.share*float64(d.disk.counted()))
		w.crashes = append(w.crashes, next)
		if err := d.stop(); err != nil {
			return w, err
		}
	}
	return w, nil
}

// planCrashes lets a process end at the first of some crashes, and that after it at the next.
func (s *simulation) planCrashes(d *deployment, crashes []crash) {
	if len(crashes) == 0 {
		return
	}
	d.disk.crash = crashes[0]
	d.disk.killed = func(during *file) {
		s.successor = d.fork(during)
		s.planCrashes(s.successor, crashes[1:])
	}
}

// send publishes an event, to the topics of a process that was just killed too.
func (s *simulation) send(ctx context.Context, e event) error {
	s.current.disk.mu.Lock()
	defer s.current.disk.mu.Unlock()
	if e.request != nil && s.successor == nil {
		s.current.topics.log.asked(e.request.RequestID, s.current.isBehind())
	}
	if s.successor != nil {
		if err := s.successor.send(ctx, e); err != nil {
			return err
		}
	}
	return s.current.send(ctx, e)
}

// apply sends an event and gives the roles their turns.
func (s *simulation) apply(ctx context.Context, e event) error {
	if waits, err := s.waits(ctx, e); err != nil || waits {
		return err
	}
	if err := s.send(ctx, e); err != nil {
		return err
	}
	for range e.polls {
		if _, err := s.current.poll(ctx); err != nil {
			return err
		}
	}
	return s.restart(ctx)
}

// restart begins the next process if the one before was killed.
func (s *simulation) restart(ctx context.Context) error {
	s.current.disk.mu.Lock()
	killed := s.successor != nil
	s.current.disk.mu.Unlock()
	if !killed {
		return nil
	}
	if err := s.current.stop(); err != nil {
		return fmt.Errorf("the killed process: %w", err)
	}
	s.current, s.successor = s.successor, nil
	s.killed++
	if lost := s.world.crashes[s.killed-1].lost; lost != nil {
		if err := s.current.lose(ctx, *lost); err != nil {
			return err
		}
	}
	if err := s.current.start(ctx); err != nil {
		return err
	}
	return s.restart(ctx)
}

// settle lets time pass until nothing is left to do and every request is verified.
func (s *simulation) settle(ctx context.Context) error {
	quiet := 0
	for tick := range ticks {
		killed := s.killed
		if err := s.gather(ctx); err != nil {
			return err
		}
		busy, err := s.current.rest(ctx)
		if err != nil {
			return err
		}
		if err := s.restart(ctx); err != nil {
			return err
		}
		if busy || s.killed > killed {
			// The next process has to read and learn again what this one did not note.
			quiet = 0
		}
		if tick == removedTick && s.current.topics.log.removes() {
			// What a batch that nobody can read holds up waits for an operator.
			s.current.topics.RemoveUnreadable()
			quiet = 0
		}
		open, err := s.current.openRequests(ctx, s.world)
		if err != nil || open == 0 && quiet >= quietTicks {
			return err
		}
		if err := s.current.tick(ctx, tickInterval); err != nil {
			return err
		}
		quiet++
	}
	statuses, err := s.current.statuses(ctx)
	var list []string
	for _, id := range slices.Sorted(maps.Keys(statuses)) {
		list = append(list, fmt.Sprintf("%s %s %s", id, statuses[id].State, statuses[id].Failure))
	}
	left, searched := s.current.search(ctx, wantedOf(s.world))
	err = errors.Join(err, searched)
	return errors.Join(err, fmt.Errorf("the world has not come to rest after %d ticks: %s %s", ticks, list, left))
}

// rest polls until nothing is left to do, and reports whether there was anything. While a transaction is open, what it
// hides is searched for again and again, so that there is no end to wait for.
func (d *deployment) rest(ctx context.Context) (had bool, err error) {
	turns, open := patience, d.topics.log.hidesRecords()
	if open {
		turns = patience / 10
	}
	idle := 0
	for range turns {
		busy, err := d.poll(ctx)
		if err != nil {
			return had, err
		}
		if busy {
			had, idle = true, 0
			continue
		}
		if idle++; idle > 3 {
			return had, nil
		}
	}
	if open {
		return had, nil
	}
	return had, fmt.Errorf("the roles are still busy after %d turns", patience)
}

// isBehind reports whether a record has not been read.
func (d *deployment) isBehind() bool {
	read, sent := int64(0), int64(0)
	for _, next := range d.consumed() {
		read += next
	}
	for _, topic := range []bus.Topic{bus.Transactions, bus.Labels} {
		sent += d.topics.log.sent[topic]
	}
	return read < sent
}

// send publishes an event.
func (d *deployment) send(ctx context.Context, e event) error {
	if e.request == nil {
		d.topics.log.sent[e.topic]++
		before, write := d.topics.Written(e.topic), d.topics.Bus.Write
		if e.opens {
			write = d.topics.WriteOpen
			d.topics.log.hide(e)
		}
		if err := write(ctx, e.topic, []ingest.Outgoing{e.record}); err != nil {
			return err
		}
		d.topics.log.placed(e, before, d.topics.Written(e.topic))
		return nil
	}
	d.topics.log.sentBehind[e.request.RequestID] = slices.Clone(d.topics.log.hides)
	d.topics.log.absent[e.request.RequestID] = d.absent()
	d.topics.log.keeps(e.request.RequestID, d.group(ofGraphs))
	key, value, err := ingest.EncodeErasure(*e.request, time.Time{})
	if err != nil {
		return err
	}
	return d.topics.Bus.Write(ctx, bus.Erasures, []ingest.Outgoing{{Key: key, Value: value}})
}

// statuses are the newest of every request.
func (d *deployment) statuses(ctx context.Context) (map[string]deletions.Status, error) {
	out := make(map[string]deletions.Status)
	err := d.topics.ReadAll(ctx, bus.ErasureStatus, func(rec ingest.Record) error {
		n, err := wire.ParseNotice(rec)
		if err == nil && n.Status != nil && n.Status.Key() == n.Status.RequestID {
			out[n.Status.RequestID] = *n.Status
		}
		return err
	})
	return out, err
}

// openRequests counts the requests that are not verified.
func (d *deployment) openRequests(ctx context.Context, w world) (int, error) {
	statuses, err := d.statuses(ctx)
	open := 0
	for _, e := range w.events {
		if e.request != nil && !isDone(statuses[e.request.RequestID]) {
			open++
		}
	}
	for id, s := range statuses {
		if isAgain(id) && !isDone(s) {
			open++
		}
	}
	return open, err
}

// isDone reports whether nothing follows a state by itself.
func isDone(s deletions.Status) bool { return s.State.Final() || s.State == deletions.Held }

// fork is what the process would leave if it was killed now.
func (d *deployment) fork(during *file) *deployment {
	left, err := d.disk.copied(during)
	if err != nil {
		panic(err)
	}
	successor := d.successor(left)
	successor.disk.trace = append(slices.Clone(d.disk.trace), "killed")
	return successor
}
