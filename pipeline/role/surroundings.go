package role

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/precedence"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// Surroundings are what a logic is run with; take them from Around.
type Surroundings struct {
	Bus Bus
	// Run is that of the process, as it said who plays the role. Empty where nobody says that.
	Run string
	// FS is the file system of the role's folder.
	FS vfs.FS
	// Wake, if not nil, has the logic step, with nothing new, whenever it delivers:
	// work that the logic began beside the loop is done.
	Wake <-chan struct{}
	// Beside, if not nil, runs beside the loop until its context ends. Its end with an
	// error ends the role.
	Beside func(ctx context.Context) error
	// Standing, if not nil, says that the role is one that a single process plays at a time.
	Standing *Standing
	// First, if not nil, is what roles of one process agree by on who goes first: the predictions of a closed
	// timestep are waited for, and what can wait gives way to them.
	First *precedence.Rule
	// Own are topics that the role's leader alone writes. A leader of several processes reads them too: what a fenced
	// leader writes there late readers leave out, but compaction removes what stood under its key.
	Own []bus.Topic
	// Tick, if not 0, is how often the logic is told that time has passed.
	Tick time.Duration
	// Clock returns the present time.
	Clock    func() time.Time
	Listener events.Listener
	// Sampler chooses the transactions that are reported individually.
	Sampler events.Sampler
	Logger  *slog.Logger
}

// Around returns surroundings over a bus by the machine's clock and disks. The
// listener may lack functions.
func Around(b Bus, listener events.Listener, logger *slog.Logger) Surroundings {
	return Surroundings{Bus: b, FS: vfs.Default, Clock: time.Now, Listener: events.Tee(listener), Logger: logger}
}

func (s Surroundings) owns(topic bus.Topic) bool { return slices.Contains(s.Own, topic) }

// Junk tells of a record on a topic of lethe's own that lethe did not write, and counts it. Its content
// is nobody's to log.
func (s Surroundings) Junk(role string, rec ingest.Record) {
	reason, why := string(ingest.Unparseable), "it cannot be read"
	if rec.Unproven != "" {
		reason, why = string(ingest.Unproven), rec.Unproven
	}
	s.Logger.Error("a record that lethe did not write was passed over", "role", role, "topic", rec.Topic,
		"partition", rec.Partition, "offset", rec.Offset, "reason", why)
	s.Listener.RecordsMissed(events.RecordsMissed{
		Topic: rec.Topic, Partition: rec.Partition, From: rec.Offset, To: rec.Offset + 1, Reason: reason,
	})
}

// Passed tells that a transaction has passed a stage of work that took that long, if it is one of those
// that are followed.
func (s Surroundings) Passed(stage events.Stage, t lethe.Timestep, p lethe.Pseudonym, took time.Duration) {
	s.Sampler.Passed(s.Listener, stage, t, p, took)
}

// PassOver tells of a message whose payload is not what lethe writes, which a logic
// leaves out.
func (s Surroundings) PassOver(role string, topic bus.Topic, m wire.Received) {
	s.Logger.Error("a message that lethe did not write was passed over", "role", role, "topic", topic,
		"partition", m.Partition, "offset", m.Offset)
	s.Listener.RecordsMissed(events.RecordsMissed{
		Topic: string(topic), Partition: m.Partition, From: m.Offset, To: m.Offset + 1, Reason: string(ingest.Unparseable),
	})
}
