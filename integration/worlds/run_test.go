package worlds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
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
)

// life is a world that is being played: the process that is alive, and what the next
// one goes on with once it is killed.
type life struct {
	world world
	alive *deployment
	// heir is set under the gate of the disk that is alive: the kill may come from a
	// goroutine of a store.
	heir *deployment
	// killed counts the processes that were killed.
	killed int
}

// play sends a world to the deployment and lets it come to rest. If the process is
// killed on the way, another goes on with what is left of it, and is returned.
func (d *deployment) play(ctx context.Context, w world) (*deployment, error) {
	l := &life{world: w, alive: d}
	l.threaten(d, w.deaths)
	d.patience, d.window, d.oneHop, d.config = w.patience, w.window, w.oneHop, w.config
	if err := d.start(ctx); err != nil {
		return d, err
	}
	for _, events := range [][]event{w.events, w.epilogue()} {
		for _, e := range events {
			if err := l.happen(ctx, e); err != nil {
				return l.alive, err
			}
		}
		if err := l.settle(ctx); err != nil {
			return l.alive, err
		}
	}
	if l.killed < len(w.deaths) {
		return l.alive, fmt.Errorf("%d processes were killed, want %d", l.killed, len(w.deaths))
	}
	return l.alive, nil
}

// doomed says at which write each process ends: the world is played without that end
// first, to count how many writes there are.
func (w world) doomed(ctx context.Context, t testing.TB) (world, error) {
	all := w.deaths
	w.deaths = nil
	for _, next := range all {
		d, err := newDeployment(t).play(ctx, w)
		if err != nil {
			return w, err
		}
		next.at = 1 + int64(next.share*float64(d.disk.counted()))
		w.deaths = append(w.deaths, next)
		if err := d.stop(); err != nil {
			return w, err
		}
	}
	return w, nil
}

// threaten lets a process end at the first of some deaths, and that after it at the next.
func (l *life) threaten(d *deployment, deaths []death) {
	if len(deaths) == 0 {
		return
	}
	d.disk.death = deaths[0]
	d.disk.killed = func(during *file) {
		l.heir = d.fork(during)
		l.threaten(l.heir, deaths[1:])
	}
}

// send publishes an event, to the topics of a process that was just killed too.
func (l *life) send(ctx context.Context, e event) error {
	l.alive.disk.gate.Lock()
	defer l.alive.disk.gate.Unlock()
	if e.request != nil && l.heir == nil {
		l.alive.topics.log.asked(e.request.RequestID, l.alive.isBehind())
	}
	if l.heir != nil {
		if err := l.heir.send(ctx, e); err != nil {
			return err
		}
	}
	return l.alive.send(ctx, e)
}

// happen sends an event and gives the roles their turns.
func (l *life) happen(ctx context.Context, e event) error {
	if err := l.send(ctx, e); err != nil {
		return err
	}
	for range e.polls {
		if _, err := l.alive.poll(ctx); err != nil {
			return err
		}
	}
	return l.live(ctx)
}

// live begins the next process if the one before was killed.
func (l *life) live(ctx context.Context) error {
	l.alive.disk.gate.Lock()
	killed := l.heir != nil
	l.alive.disk.gate.Unlock()
	if !killed {
		return nil
	}
	if err := l.alive.stop(); err != nil {
		return fmt.Errorf("the killed process: %w", err)
	}
	l.alive, l.heir = l.heir, nil
	l.killed++
	if err := l.alive.start(ctx); err != nil {
		return err
	}
	return l.live(ctx)
}

// settle lets time pass until nothing is left to do and every request is verified.
func (l *life) settle(ctx context.Context) error {
	begun, killed := l.alive.clock.now, l.killed
	for range ticks {
		if err := l.alive.rest(ctx); err != nil {
			return err
		}
		if err := l.live(ctx); err != nil {
			return err
		}
		if l.killed > killed {
			// The next process waits anew for what may still change.
			begun, killed = l.alive.clock.now, l.killed
		}
		open, err := l.alive.openRequests(ctx, l.world)
		if err != nil || open == 0 && l.alive.clock.now.Sub(begun) > time.Minute {
			return err
		}
		if err := l.alive.tick(ctx, 7*time.Second); err != nil {
			return err
		}
	}
	statuses, err := l.alive.statuses(ctx)
	var list []string
	for _, id := range slices.Sorted(maps.Keys(statuses)) {
		list = append(list, fmt.Sprintf("%s %s %s", id, statuses[id].State, statuses[id].Failure))
	}
	left, searched := l.alive.search(ctx, wantedOf(l.world))
	err = errors.Join(err, searched)
	return errors.Join(err, fmt.Errorf("the world has not come to rest after %d ticks: %s %s", ticks, list, left))
}

// rest polls until nothing is left to do.
func (d *deployment) rest(ctx context.Context) error {
	idle := 0
	for range patience {
		busy, err := d.poll(ctx)
		if err != nil {
			return err
		}
		if busy {
			idle = 0
			continue
		}
		if idle++; idle > 3 {
			return nil
		}
	}
	return fmt.Errorf("the roles are still busy after %d turns", patience)
}

// isBehind reports whether a record has not been read.
func (d *deployment) isBehind() bool {
	read, sent := int64(0), int64(0)
	for _, r := range d.roles {
		for at, next := range r.follower.Status().Consumed {
			if at.Topic == bus.Transactions || at.Topic == bus.Labels {
				read += next
			}
		}
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
		return d.topics.Bus.Write(ctx, e.topic, []ingest.Outgoing{e.record})
	}
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
		if err == nil && n.Status != nil {
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
		if e.request != nil && statuses[e.request.RequestID].State != deletions.Verified {
			open++
		}
	}
	return open, err
}

// fork is what the process would leave if it was killed now.
func (d *deployment) fork(during *file) *deployment {
	left, err := d.disk.copied(during)
	if err != nil {
		panic(err)
	}
	heir := &deployment{
		t: d.t, disk: left, receipts: d.t.TempDir(), clock: &clock{now: d.clock.now}, patience: d.patience,
		window: d.window, oneHop: d.oneHop, config: d.config, taken: maps.Clone(d.taken),
	}
	heir.topics = topics{d.topics.Clone(), heir.disk, d.topics.log.clone()}
	heir.disk.trace = append(slices.Clone(d.disk.trace), "killed")
	if err := os.CopyFS(heir.receipts, os.DirFS(d.receipts)); err != nil {
		panic(err)
	}
	return heir
}
