package snapshot

import (
	"fmt"

	"lethe"
)

// arrival is how a record's timestep compares with the watermark of its
// partition, as that was when the record came.
type arrival struct {
	timestep, watermark lethe.Timestep
	// late: below the watermark. tooFar: further above it than any stream jumps.
	late, tooFar bool
}

func (b *Batch) arrival(t lethe.Timestep) arrival {
	return arrival{
		timestep: t, watermark: b.watermark,
		late: t < b.watermark, tooFar: t-b.watermark > lethe.Timestep(b.staging.options.MaxTimestepJump),
	}
}

// observe returns how a record of timestep t arrives, then lets it raise the
// watermark, unless it is too far ahead to be believed: one wrong timestep
// would make late whatever follows.
func (b *Batch) observe(t lethe.Timestep) arrival {
	at := b.arrival(t)
	if lateness := b.staging.options.lateness(b.source.Stream); lateness >= 0 && !at.tooFar {
		b.watermark = max(b.watermark, t-lethe.Timestep(lateness))
	}
	return at
}

// String is the detail of a refusal.
func (a arrival) String() string {
	if a.tooFar {
		return fmt.Sprintf("timestep %d, the partition is at %d", a.timestep, a.watermark)
	}
	return fmt.Sprintf("timestep %d, the partition takes %d and later", a.timestep, a.watermark)
}
