package worlds

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/partition"
	"lethe/partition/onehop"
	"lethe/pipeline/graphs"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/score"
	"lethe/pipeline/view"
	"lethe/pipeline/wire"
	"lethe/snapshot"
	"lethe/trainer"
)

const (
	shards   = 3
	features = 3
)

var (
	secret     = lethe.Secret{11}
	partitions = map[bus.Topic]int{bus.Transactions: 2, bus.Labels: 2, bus.Slices: 2, bus.Models: 2}
)

func smallModel() trainer.Config {
	c := trainer.Defaults()
	c.Hidden, c.WindowTimesteps, c.Passes, c.Seed = 4, 2, 1, 5
	return c
}

func smallCut(independent bool) partition.Config {
	c := partition.Defaults()
	if independent {
		c = partition.DefaultsOf(partition.MethodIndependent)
	}
	c.Shards = shards
	return c
}

// deployment is all roles of one process over topics and files in memory. Nothing
// moves but when it is told to.
type deployment struct {
	t        testing.TB
	topics   topics
	disk     *disk
	receipts string
	clock    *clock
	ticked   time.Time // when the roles were told last that time passes
	roles    []*running
	// patience is how many turns the roles get while a search runs; searches are those
	// that run.
	patience int
	searches []search
	// window is erasure.batch_window.
	window time.Duration
	oneHop onehop.Mode
	// independent takes shards from ids alone.
	independent bool
	models      models
	config      snapshot.Config
	// view is what is told to people.
	view *view.Reader
	// crew are those that train, and trainers those of them that run, by their number.
	crew     crew
	trainers []*learner
	// groups are those of roles of which one process leads and others stand by.
	groups []*group
	// taken counts the records that were taken from topics, by what became of them.
	taken map[string]int
	runs  runs
}

func newDeployment(t testing.TB) *deployment {
	d := &deployment{
		t: t, disk: newDisk(), receipts: t.TempDir(), clock: &clock{now: time.Unix(1_700_000_000, 0)},
		taken: make(map[string]int), crew: crewOf(0), runs: make(runs),
	}
	memory := roletest.NewBus(partitions)
	d.topics = topics{memory, d.disk, newLog()}
	// Erasures wait for the view, as they do where a service plays it.
	record, err := wire.Instance{Role: "view", Identity: "1", Run: "1"}.Record()
	if err == nil {
		err = memory.Write(t.Context(), bus.Control, []ingest.Outgoing{record})
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// around is what roles have around them.
func (d *deployment) around() role.Surroundings {
	around := role.Around(d.topics, nil, slog.New(slog.DiscardHandler))
	around.FS, around.Clock, around.Run = d.disk, d.clock.Now, "1"
	return around
}

// start opens the roles on what is there.
func (d *deployment) start(ctx context.Context) error {
	if err := d.register(ctx); err != nil {
		return err
	}
	run, err := d.run(ctx, "view", "1", true)
	if err != nil {
		return err
	}
	var opens []func(topics written) (*role.Follower, error)
	if d.group(ofGraphs) == nil {
		opens = append(opens, func(topics written) (*role.Follower, error) {
			o := d.graphsOptions("/build", d.receipts)
			o.Bus = topics
			return graphs.New(ctx, o)
		})
	}
	if d.group(ofScore) == nil {
		opens = append(opens, func(topics written) (*role.Follower, error) {
			o := d.scoreOptions("/score", "1")
			o.Bus = topics
			return score.New(ctx, o)
		})
	}
	opens = append(opens, func(topics written) (*role.Follower, error) {
		around := d.around()
		around.Bus, around.Run = topics, run
		r, reader, err := view.New(view.Options{Dir: "/view", Secret: secret, Instance: "1", Surroundings: around})
		d.view = reader
		return r, err
	})
	for _, open := range opens {
		r := new(running)
		var err error
		if r.follower, err = open(written{d.topics, &r.thread}); err != nil {
			return err
		}
		d.roles = append(d.roles, r)
	}
	if err := d.startTrainers(ctx); err != nil {
		return err
	}
	d.ticked = d.clock.now
	for _, r := range d.roles {
		session, err := roletest.Begin(ctx, r.follower)
		if err != nil {
			return fmt.Errorf("%s: %w", r.follower.Name(), err)
		}
		r.session = session
	}
	d.assign()
	return d.startGroups(ctx)
}

// poll lets every role take the next thing that is there, and reports whether
// there was any.
func (d *deployment) poll(ctx context.Context) (bool, error) {
	// Requests that come one after the other are received in that order.
	d.clock.now = d.clock.now.Add(time.Millisecond)
	busy := d.searchOn()
	// Time passes for who sleeps between two turns, too.
	if d.clock.now.Sub(d.ticked) >= tickInterval {
		if err := d.tick(ctx, 0); err != nil {
			return false, err
		}
	}
	led, err := d.turns(ctx)
	if err != nil {
		return false, err
	}
	busy = busy || led
	for _, r := range d.roles {
		had, err := r.give(func() (bool, error) { return r.session.Poll(ctx) })
		if err != nil {
			return false, fmt.Errorf("%s: %w", r.follower.Name(), err)
		}
		busy = busy || had
	}
	return busy, nil
}

// searchOn has what runs beside the roles go on, one at a time, and reports whether there was any.
func (d *deployment) searchOn() bool {
	first := slices.IndexFunc(d.searches, func(s search) bool { return !d.stopped(s.of) })
	if first < 0 {
		return false
	}
	for i := range d.searches {
		d.searches[i].turns--
	}
	if s := d.searches[first]; s.turns < 0 {
		d.searches = slices.Delete(slices.Clone(d.searches), first, first+1)
		s.run()
	}
	return true
}

// stopped reports whether what runs beside a process has to wait, because that hangs or has stopped
// in the midst of something that others may wait for.
func (d *deployment) stopped(h *host) bool {
	if h != nil {
		return h.hangs() || h.hung
	}
	return slices.ContainsFunc(d.roles, func(r *running) bool { return r.hung })
}

// tickInterval is how often roles are told that time passes.
const tickInterval = 7 * time.Second

// tick lets time pass.
func (d *deployment) tick(ctx context.Context, by time.Duration) error {
	d.clock.now = d.clock.now.Add(by)
	d.ticked = d.clock.now
	if err := d.tickGroups(ctx); err != nil {
		return err
	}
	for _, r := range d.roles {
		if r.hung || r.fault != nil && r.fault.writes == 0 {
			continue // it hears of nothing
		}
		_, err := r.give(func() (bool, error) { return false, r.session.Tick(ctx) })
		if err != nil {
			return fmt.Errorf("%s: %w", r.follower.Name(), err)
		}
	}
	return nil
}

// stop closes the roles.
func (d *deployment) stop() error {
	// What runs beside the roles ends with them.
	d.clock.stopped = true
	if err := d.stopGroups(); err != nil {
		return err
	}
	for _, r := range d.roles {
		r.abandon() // or what runs beside it would wait for it
	}
	for _, s := range d.searches {
		s.run()
	}
	d.searches = nil
	for _, t := range d.trainers {
		if t != nil && t.stop != nil {
			if err := t.stop(); err != nil {
				return err
			}
		}
	}
	for _, r := range d.roles {
		if r.session != nil {
			if err := r.session.Close(); err != nil {
				return err
			}
		}
		if err := r.follower.Close(); err != nil {
			return err
		}
	}
	d.roles, d.trainers = nil, nil
	return nil
}
