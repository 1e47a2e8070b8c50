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

// Surroundings are the dependencies of a logic; see Around.
type Surroundings struct {
	Bus Bus
	// Run is the identity of the process, or "".
	Run string
	// FS is the file system of the role's folder.
	FS vfs.FS
	// Wake, if not nil, makes the logic step with an empty input: work beside the loop is done.
	Wake <-chan struct{}
	// Beside, if not nil, runs beside the loop until its context ends. Its error ends the role.
	Beside func(ctx context.Context) error
	// Standing, if not nil, makes the process leader or standby.
	Standing *Standing
	// First, if not nil, gives predictions of a closed timestep priority over other roles of the process.
	First *precedence.Rule
	// Own are the topics that only the role's leader writes. A leader reads them too, if other processes have the role:
	// readers ignore late records of a fenced leader, but compaction deletes the records that they replace.
	Own []bus.Topic
	// Tick, if not 0, is the interval of ticks.
	Tick time.Duration
	// Clock returns the current time.
	Clock    func() time.Time
	Listener events.Listener
	// Sampler chooses the transactions that are reported individually.
	Sampler events.Sampler
	Logger  *slog.Logger
}

// Around returns surroundings with a bus and the machine's clock and disks. The listener may lack functions.
func Around(b Bus, listener events.Listener, logger *slog.Logger) Surroundings {
	return Surroundings{Bus: b, FS: vfs.Default, Clock: time.Now, Listener: events.Tee(listener), Logger: logger}
}

func (s Surroundings) owns(topic bus.Topic) bool { return slices.Contains(s.Own, topic) }

// Junk reports a record on one of lethe's own topics that lethe did not write, without its content.
func (s Surroundings) Junk(role string, rec ingest.Record) {
	reason, why := string(ingest.Unparseable), "it cannot be read"
	if rec.Unauthenticated != "" {
		reason, why = string(ingest.Unproven), rec.Unauthenticated
	}
	s.Logger.Error("a record that lethe did not write was ignored", "role", role, "topic", rec.Topic,
		"partition", rec.Partition, "offset", rec.Offset, "reason", why)
	s.Listener(events.RecordsMissed{
		Topic: rec.Topic, Partition: rec.Partition, From: rec.Offset, To: rec.Offset + 1, Reason: reason,
	})
}

// Passed reports that a transaction has passed a stage, if it is sampled.
func (s Surroundings) Passed(stage events.Stage, t lethe.Timestep, p lethe.Pseudonym, took time.Duration) {
	s.Sampler.Passed(s.Listener, stage, t, p, took)
}

// PassOver reports a message with an invalid payload, which the logic ignores.
func (s Surroundings) PassOver(role string, topic bus.Topic, m wire.Received) {
	s.Logger.Error("a message that lethe did not write was ignored", "role", role, "topic", topic,
		"partition", m.Partition, "offset", m.Offset)
	s.Listener(events.RecordsMissed{
		Topic: string(topic), Partition: m.Partition, From: m.Offset, To: m.Offset + 1, Reason: string(ingest.Unparseable),
	})
}
