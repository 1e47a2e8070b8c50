package worlds

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"testing"
	"time"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
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
	"lethe/trainer/kernels"
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
	// taken counts the records that were taken from topics, by what became of them.
	taken map[string]int
}

// search runs beside the roles, for some turns more.
type search struct {
	run   func()
	turns int
}

type running struct {
	follower *role.Follower
	session  *roletest.Session
}

func newDeployment(t testing.TB) *deployment {
	d := &deployment{
		t: t, disk: newDisk(), receipts: t.TempDir(), clock: &clock{now: time.Unix(1_700_000_000, 0)},
		taken: make(map[string]int), crew: crewOf(0),
	}
	memory := roletest.NewBus(partitions)
	d.topics = topics{memory, d.disk, newLog()}
	// Erasures wait for the view, as they do where a service plays it.
	record, err := wire.Instance{Role: "view", Identity: "1", Run: "1"}.Record()
	if err == nil {
		err = memory.Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{record})
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// around is what roles have around them.
func (d *deployment) around() role.Surroundings {
	around := role.Around(d.topics, events.Listener{}, slog.New(slog.DiscardHandler))
	around.FS, around.Clock = d.disk, d.clock.Now
	return around
}

// start opens the roles on what is there.
func (d *deployment) start(ctx context.Context) error {
	around := d.around()
	if err := d.register(ctx); err != nil {
		return err
	}
	listener := events.Listener{RecordsConsumed: func(e events.RecordsConsumed) {
		if e.Result != events.Ignored { // tombstones
			d.taken[e.Topic+" "+string(e.Result)] += e.Count
		}
	}}
	for _, open := range []func() (*role.Follower, error){
		func() (*role.Follower, error) {
			return graphs.New(ctx, graphs.Options{
				FS: d.disk, Dir: "/build", ReceiptsDir: d.receipts, Snapshot: d.config, Limits: ingest.DefaultLimits(),
				Secret: secret, Bus: d.topics, Clock: d.clock, Version: "worlds", Compact: d.compact,
				Logger: around.Logger, Listener: listener, Partition: smallCut(d.independent), Repair: repairConfig(d.oneHop),
				Beside: func(run func()) { d.searches = append(d.searches, search{run, d.patience}) },
				Erasure: coordinator.Config{
					SigningKey: signingKey, KernelSet: "worlds", Deployment: secret.Deployment("worlds."),
					VerifyTimeout: 5 * time.Minute, DefaultScope: lethe.ScopeStubs, BatchWindow: d.window,
				},
			})
		},
		func() (*role.Follower, error) {
			return score.New(score.Options{
				Dir: "/score", Layout: d.models.layout, Meta: d.models.over, Workers: 1, Scoring: d.models.scoring,
				Kernels: kernels.Default(), Secret: secret, Instance: "1", OneHop: d.oneHop, Surroundings: around,
				Limits: ingest.DefaultLimits(), FirstTimestep: d.config.FirstTimestep, MaxTimestepJump: d.config.MaxTimestepJump,
			})
		},
		func() (*role.Follower, error) {
			r, reader, err := view.New(view.Options{Dir: "/view", Secret: secret, Instance: "1", Surroundings: around})
			d.view = reader
			return r, err
		},
	} {
		r, err := open()
		if err != nil {
			return err
		}
		d.roles = append(d.roles, &running{follower: r})
	}
	if err := d.startTrainers(ctx, around); err != nil {
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
	return nil
}

// compact is the cleaner of the topics, which leaves what comes from producers until it
// was read: of a record that is taken and a broken one under its key compaction keeps
// the broken one, and which of them count must not depend on when it runs.
func (d *deployment) compact() error {
	read := make(map[bus.TopicPartition]int64)
	for topic, count := range partitions {
		if topic == bus.Transactions || topic == bus.Labels {
			for p := range count {
				read[bus.TopicPartition{Topic: topic, Partition: p}] = 0
			}
		}
	}
	for _, r := range d.roles {
		maps.Copy(read, r.follower.Status().Consumed)
	}
	return d.topics.CompactBelow(read)
}

// poll lets every role take the next thing that is there, and reports whether
// there was any.
func (d *deployment) poll(ctx context.Context) (bool, error) {
	// Requests that come one after the other are received in that order.
	d.clock.now = d.clock.now.Add(time.Millisecond)
	busy := len(d.searches) > 0
	for i := range d.searches {
		d.searches[i].turns--
	}
	if busy && d.searches[0].turns < 0 {
		d.searches[0].run()
		d.searches = d.searches[1:]
	}
	// Time passes for who sleeps between two turns, too.
	if d.clock.now.Sub(d.ticked) >= tickInterval {
		if err := d.tick(ctx, 0); err != nil {
			return false, err
		}
	}
	for _, r := range d.roles {
		had, err := r.session.Poll(ctx)
		if err != nil {
			return false, fmt.Errorf("%s: %w", r.follower.Name(), err)
		}
		busy = busy || had
	}
	return busy, nil
}

// tickInterval is how often roles are told that time passes.
const tickInterval = 7 * time.Second

// tick lets time pass.
func (d *deployment) tick(ctx context.Context, by time.Duration) error {
	d.clock.now = d.clock.now.Add(by)
	d.ticked = d.clock.now
	for _, r := range d.roles {
		if err := r.session.Tick(ctx); err != nil {
			return fmt.Errorf("%s: %w", r.follower.Name(), err)
		}
	}
	return nil
}

// stop closes the roles.
func (d *deployment) stop() error {
	// What runs beside the roles ends with them.
	d.clock.stopped = true
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

// clock is a clock that passes only when it is told to, and when somebody sleeps.
type clock struct {
	now time.Time
	// stopped says that nobody sleeps any more.
	stopped bool
}

// Now implements coordinator.Clock.
func (c *clock) Now() time.Time { return c.now }

// Sleep implements coordinator.Clock.
func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.now = c.now.Add(d)
	if c.stopped {
		return context.Canceled
	}
	return ctx.Err()
}
