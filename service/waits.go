package service

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"lethe"
	"lethe/configs"
	"lethe/ingest/bus"
	"lethe/internal/diskroom"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/service/waiting"
)

// rejectionsLast is the minimum time for which rejections are reported if no record follows on their topic.
const rejectionsLast = 10 * time.Minute

// probesPerOffsets is the number of probes between queries for open transactions.
const probesPerOffsets = 3

// waits computes the current waits, and reports them to the metrics and the log. Any goroutine may read the latest
// list; one updates it.
type waits struct {
	intake *waiting.Intake
	// prefix is removed from the names of topics.
	prefix string
	sink   events.Listener
	log    *slog.Logger

	tracker *waiting.Tracker
	// stable and high are the last stable offset and the high watermark, due is the previous value of stable.
	stable, high, due map[bus.TopicPartition]int64
	// processes are those that share roles.
	processes []waiting.Role

	mu   sync.Mutex
	list []waiting.Wait
	// alertFailed means that the latest alert was not accepted, alertsLeft counts those that are left until a
	// restart.
	alertFailed bool
	alertsLeft  int
}

func newWaits(c configs.Config, now func() time.Time, listener events.Listener, log *slog.Logger) *waits {
	return &waits{
		intake: waiting.NewIntake(c.Waiting.After, max(c.Waiting.Quiet, rejectionsLast), now), prefix: c.Kafka.TopicPrefix,
		sink: events.Tee(listener), log: log, tracker: waiting.NewTracker(),
		list: []waiting.Wait{},
	}
}

// latest returns the waits of the last update.
func (w *waits) latest() []waiting.Wait {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list)
}

// listener counts the outcomes of records.
func (w *waits) listener() events.Listener {
	return events.Tee(
		events.On(func(e events.RecordsConsumed) {
			if e.Result == events.Accepted || e.Result == events.Duplicate {
				w.intake.Accept(strings.TrimPrefix(e.Topic, w.prefix), e.Count)
			}
		}),
		events.On(func(e events.RecordDeadLettered) {
			w.intake.Reject(strings.TrimPrefix(e.Topic, w.prefix), e.Reason)
		}),
		events.On(func(e events.WebhookTried) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.alertFailed, w.alertsLeft = e.Outcome == events.WebhookFailed, e.Undelivered
		}),
	)
}

// alerts returns whether the latest alert was not accepted, and how many are left until a restart.
func (w *waits) alerts() (failed bool, left int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alertFailed, w.alertsLeft
}

// update processes the current facts.
func (w *waits) update(f waiting.Facts) {
	list, log := w.tracker.Update(f)
	for _, l := range log {
		if l.Ended {
			w.log.Info("no longer waited for", "cause", string(l.Cause))
			continue
		}
		w.log.Warn("waiting: "+l.Message, "cause", string(l.Cause), "since", l.Since.UTC().Format(time.RFC3339),
			"move", string(l.Move), "do", l.Do)
	}
	causes := make([]string, 0, len(list))
	for _, wait := range list {
		causes = append(causes, string(wait.Cause))
	}
	slices.Sort(causes)
	w.sink(events.WaitsChanged{Causes: slices.Compact(causes)})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = list
}

// lookAtWaits collects the facts and updates the waits. Brokers are queried if ask is set.
func (p *topicsProcess) lookAtWaits(ctx context.Context, ask bool) {
	if !p.open.Load() {
		return
	}
	if ask {
		asking, cancel := context.WithTimeout(ctx, probeLimit)
		p.askForOffsets(asking)
		p.waits.processes = p.runningProcesses(asking)
		cancel()
	}
	p.waits.update(p.facts(knownBy(p.roles)))
}

// askForOffsets queries brokers for the ends of topics, if a role of this process reads them.
func (p *topicsProcess) askForOffsets(ctx context.Context) {
	w := p.waits
	if knownBy(p.roles).Watermarks == nil {
		return
	}
	// A high watermark that is read after the stable end would be ahead of it in any active stream.
	high := make(map[bus.TopicPartition]int64)
	var err error
	for _, topic := range []bus.Topic{bus.Transactions, bus.Labels} {
		var ends []int64
		if ends, err = bus.HighWatermarks(ctx, p.client, topic); err != nil {
			break
		}
		for n, end := range ends {
			high[bus.TopicPartition{Topic: topic, Partition: n}] = end
		}
	}
	w.due = w.stable
	if err == nil {
		w.stable, err = p.ends.get(ctx)
	}
	if w.high = high; err != nil {
		w.stable, w.high = nil, nil
	}
}

// directoriesOf counts the data directories that share each role with a consumer group. It includes roles that have
// never been run, and excludes those that one process runs alone.
func directoriesOf(members *wire.Members) map[string]int {
	directories := make(map[string]int)
	for _, name := range []string{configs.RoleGraphs, configs.RoleTrain, configs.RoleScore} {
		if _, alone := members.Alone(name); !alone && len(members.Of(name)) == 0 {
			directories[name] = 0
		}
		for _, identity := range members.Of(name) {
			if members.Shared(name, identity) {
				directories[name]++
			}
		}
	}
	return directories
}

// runningProcesses counts the data directories that share roles, and their processes that brokers know. It excludes
// roles on which brokers do not report, and those that one process runs alone.
func (p *topicsProcess) runningProcesses(ctx context.Context) (out []waiting.Role) {
	directories := p.directories.Load()
	if directories == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(*directories)) {
		shared, running, err := (*directories)[name], 0, error(nil)
		if shared > 0 {
			running, err = bus.Sharer{Client: p.client}.Members(ctx, name)
		}
		if err == nil {
			out = append(out, waiting.Role{Name: name, Directories: shared, Running: running})
		}
	}
	return out
}

// facts returns the current knowledge of this process.
func (p *topicsProcess) facts(known *role.Status) waiting.Facts {
	c := p.config
	f := waiting.Facts{
		Now: p.o.Now(), After: c.Waiting.After, Quiet: c.Waiting.Quiet, MostOpen: c.Ingest.MaxOpenTimesteps,
		MostJump: c.Ingest.MaxTimestepJump, Intake: p.waits.intake.Outcomes(), FreeBytes: -1,
		LabelLag: c.Scoring.LabelLagTimesteps, Roles: p.waits.processes, Erasures: known.Waits,
		Awaited: known.Awaited.Through, ModelsPresent: known.Awaited.Present, Models: known.Awaited.Models,
	}
	f.AlertsFail, f.AlertsLeft = p.waits.alerts()
	for _, t := range slices.Sorted(maps.Keys(known.Steps)) {
		step := known.Steps[t]
		if step.State == lethe.Open && step.Nodes == 0 || step.State == 0 {
			continue // only payments or labels of it arrived, or predictions
		}
		f.Steps = append(f.Steps, waiting.Step{Timestep: t, State: step.State, Labels: step.Labels})
	}
	for at, watermark := range known.Watermarks {
		part := waiting.Partition{
			Topic: string(at.Topic), Number: at.Partition, Watermark: watermark, Newest: known.Newest[at],
			Read: known.Consumed[at], Stable: -1, High: -1,
		}
		if end, known := p.waits.stable[at]; known {
			part.Stable, part.High, part.Due = end, p.waits.high[at], p.waits.due[at]
		}
		to := &f.Transactions
		if at.Topic == bus.Labels {
			to = &f.Labels
		}
		*to = append(*to, part)
	}
	for _, list := range [][]waiting.Partition{f.Transactions, f.Labels} {
		slices.SortFunc(list, func(a, b waiting.Partition) int { return a.Number - b.Number })
	}
	f.Brokers, f.Topics, f.Disk = p.outages.facts()
	if room, err := diskroom.Of(c.DataDir); err == nil {
		f.FreeBytes = int64(min(room.FreeBytes, 1<<62))
	}
	switch open, err := os.ReadDir("/proc/self/fd"); {
	case err == nil:
		f.OpenFiles, f.MostFiles = len(open), diskroom.MostFiles()
	case errors.Is(err, syscall.EMFILE):
		f.MostFiles = diskroom.MostFiles()
		f.OpenFiles = f.MostFiles // not even the list of open files could be opened
	}
	return f
}

// facts returns the unavailable places, the faults of topics, and the files that cannot be written.
func (o *outages) facts() (places map[string]string, topics []string, disk map[string]string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range o.lasting {
		topics = append(topics, f.String())
	}
	return maps.Clone(o.brokers.places), append(topics, o.wrong...), maps.Clone(o.disk.places)
}
