package worlds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/train"
	"lethe/pipeline/wire"
	"lethe/trainer/kernels"
)

// learner is a trainer that runs.
type learner struct {
	*running
	assigned func(bus.Assigned)
	stop     func() error
}

// openTrainer opens a trainer on its folder.
func (d *deployment) openTrainer(ctx context.Context, number int) (*learner, error) {
	out, around := &learner{running: new(running)}, d.around()
	var err error
	if len(d.crew.away) > 0 {
		if around.Run, err = d.run(ctx, "train", d.crew.names()[number], false); err != nil {
			return nil, err
		}
	}
	around.Bus = written{d.topics, &out.thread}
	o := train.Options{
		Dir: folderOf(number), Layout: d.models.layout, Meta: d.models.over, Workers: 1, UnderWay: 1,
		Kernels: kernels.Default(), Secret: secret, Instance: d.crew.names()[number], Surroundings: around,
	}
	if len(d.crew.away) == 0 {
		out.follower, err = train.New(o)
		return out, err
	}
	s := seat{make(chan membership, 1), nil}
	o.Sharer = s
	if out.follower, err = train.New(o); err != nil {
		return nil, err
	}
	beside, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- out.follower.Beside(beside) }()
	out.stop = func() error {
		cancel()
		return <-ended
	}
	select {
	case taken := <-s.taken:
		out.assigned = taken.Assigned
		return out, nil
	case err := <-ended:
		cancel()
		return nil, err
	}
}

// startTrainers opens those that are not away, between the graphs and the scores.
func (d *deployment) startTrainers(ctx context.Context) error {
	d.trainers = make([]*learner, max(1, len(d.crew.away)))
	for i := range d.trainers {
		if len(d.crew.away) > 0 && d.crew.away[i] {
			continue
		}
		t, err := d.openTrainer(ctx, i)
		if err != nil {
			return err
		}
		d.trainers[i] = t
		d.roles = slices.Insert(d.roles, len(d.roles)-1, t.running)
	}
	return nil
}

// register says that the trainers are members, as the service does before they begin.
func (d *deployment) register(ctx context.Context) error {
	if d.crew.registered {
		return nil
	}
	d.crew.registered = true
	for i := range d.crew.away {
		if i == d.crew.newcomer {
			continue
		}
		record, err := wire.Member{Role: "train", Identity: d.crew.names()[i], Run: "1"}.Record()
		if err == nil {
			err = d.topics.Bus.Write(ctx, bus.Control, []ingest.Outgoing{record})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// assign tells the trainers who runs what, but the one that is deaf.
func (d *deployment) assign() {
	if len(d.crew.away) == 0 {
		return
	}
	d.crew.generation++
	for i, t := range d.trainers {
		if t == nil || i == d.crew.deaf {
			continue
		}
		a := bus.Assigned{Generation: d.crew.generation}
		for p, owner := range d.crew.owners {
			if owner == i {
				a.Partitions = append(a.Partitions, p)
			}
		}
		t.assigned(a)
	}
}

// shift has something happen to the crew.
func (d *deployment) shift(ctx context.Context, s shift) error {
	switch {
	case s.leaves != nobody:
		err := d.leave(s.leaves, s.machine)
		if err == nil && s.loses && d.crew.away[s.leaves] {
			err = d.lose(ctx, loss{ofTrain, s.leaves})
		}
		return err
	case s.joins != nobody:
		return d.join(ctx, s.joins)
	}
	d.crew.owners, d.crew.deaf = slices.Clone(s.owners), s.deaf
	d.assign()
	return nil
}

// leave ends a trainer as if it was killed: its folder stays as it is now, or as it was synced
// if its machine ends.
func (d *deployment) leave(number int, machine bool) error {
	t := d.trainers[number]
	if t == nil {
		return nil
	}
	d.crew.away[number], d.trainers[number] = true, nil
	d.roles = slices.DeleteFunc(d.roles, func(r *running) bool { return r == t.running })
	return d.killed(folderOf(number), machine, t.close)
}

// killed ends a process, of which a folder is left as it is now, or as it was synced if its machine
// ends.
func (d *deployment) killed(folder string, machine bool, end func() error) error {
	d.disk.mu.Lock()
	time.Sleep(5 * time.Millisecond) // as in disk.copied
	how := vfs.CrashCloneCfg{}
	if !machine {
		how = vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))}
	}
	left := d.disk.memory.CrashClone(how)
	d.disk.mu.Unlock()
	if err := end(); err != nil {
		return err
	}
	if err := d.disk.memory.RemoveAll(folder); err != nil {
		return err
	}
	if _, err := vfs.Clone(left, d.disk.memory, folder, folder, vfs.CloneSync); err != nil {
		return err
	}
	return syncFolders(d.disk.memory, "/") // or another end of the machine has what was there before
}

// close ends a trainer. What it would still write is dropped by whoever kills it.
func (t *learner) close() error {
	t.abandon()
	var err error
	if t.stop != nil {
		err = t.stop()
	}
	if t.session != nil && err == nil {
		err = t.session.Close()
	}
	if err != nil {
		return err
	}
	return t.follower.Close()
}

// join has a trainer that was away begin again.
func (d *deployment) join(ctx context.Context, number int) error {
	if !d.crew.away[number] {
		return nil
	}
	d.crew.away[number] = false
	if number == d.crew.newcomer {
		d.crew.newcomer = nobody
	}
	t, err := d.openTrainer(ctx, number)
	if err != nil {
		return err
	}
	d.trainers[number] = t
	d.roles = append(d.roles, t.running)
	if t.session, err = roletest.Begin(ctx, t.follower); err != nil {
		return fmt.Errorf("%s: %w", t.follower.Name(), err)
	}
	d.assign()
	return nil
}

// gather has everybody at work, so that the world can come to rest. A process that is killed by it is followed first.
func (s *simulation) gather(ctx context.Context) error {
	d := s.current
	for i := range d.crew.away {
		if err := d.join(ctx, i); err != nil {
			return err
		}
	}
	if even := crewOf(len(d.crew.away)); d.crew.deaf != nobody || !slices.Equal(d.crew.owners, even.owners) {
		d.crew.owners, d.crew.deaf = even.owners, nobody
		d.assign()
	}
	if err := d.gatherGroups(ctx); err != nil {
		return err
	}
	killed := s.killed
	if err := s.restart(ctx); err != nil || s.killed == killed {
		return err
	}
	return s.gather(ctx)
}

// pauseTicks are those of a pause: who trains waits for some, in case more slices change.
const pauseTicks = 6

// pause lets all do what there is to do, as those who train are assigned now. What somebody publishes
// meanwhile who has not heard that others train it is put right by these.
func (s *simulation) pause(ctx context.Context) error {
	for range pauseTicks {
		if err := s.current.tick(ctx, tickInterval); err != nil {
			return err
		}
		if _, err := s.current.rest(ctx); err != nil {
			return err
		}
	}
	if c, trainers := s.current.crew, s.current.trainers; !slices.ContainsFunc(c.owners, func(owner int) bool {
		return owner == nobody || owner == c.deaf || trainers[owner] == nil
	}) {
		if err := s.current.topics.log.witness.rests(s.current.models); err != nil {
			return err
		}
	}
	return s.restart(ctx)
}

// shift has something happen to the crew of the process that runs. One that is about to be
// followed by another, because it was killed, is left alone.
func (s *simulation) shift(ctx context.Context, what shift) error {
	if err := s.current.shift(ctx, what); err != nil {
		return err
	}
	return s.restart(ctx)
}
