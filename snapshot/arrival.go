package snapshot

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/snapshot/lacking"
)

// arrival compares a record's timestep with the watermark of its partition at the time the record
// arrived.
type arrival struct {
	timestep, watermark lethe.Timestep
	// furthest is the newest timestep that the partition accepts.
	furthest lethe.Timestep
	// late means below the watermark, tooFar above furthest.
	late, tooFar bool
}

// passage is how far a partition is.
type passage struct {
	watermark lethe.Timestep
	stream    Stream
	options   *Options
}

func (b *passage) arrives(t lethe.Timestep) arrival {
	furthest := b.watermark + lethe.Timestep(b.options.MaxTimestepJump)
	return arrival{timestep: t, watermark: b.watermark, furthest: furthest, late: t < b.watermark, tooFar: t > furthest}
}

// observe returns the arrival of a record of timestep t and then raises the watermark. A timestep
// that is too far ahead does not raise it: a single wrong value would make all later records
// late.
func (b *passage) observe(t lethe.Timestep) arrival {
	at := b.arrives(t)
	if lateness := b.options.lateness(b.stream); lateness >= 0 && !at.tooFar {
		b.watermark = max(b.watermark, t-lethe.Timestep(lateness))
	}
	return at
}

// refused reports whether a late record is rejected, and why. Lateness is measured against the record's own
// partition, because which timesteps have closed depends on how far other partitions have been read.
func (b *passage) refused(a arrival) (detail string, refused bool) {
	if !a.late {
		return "", false
	}
	o := b.options
	if o.Late == DeadLetter || a.timestep < o.FirstTimestep {
		return a.String(), true
	}
	oldest := a.watermark - 1 - lethe.Timestep(o.ReopenTimesteps)
	if o.ReopenTimesteps == AnyTimestep || a.timestep >= oldest {
		return "", false
	}
	return fmt.Sprintf("timestep %d, those from %d on are reopened", a.timestep, oldest), true
}

// String is the detail of a refusal.
func (a arrival) String() string {
	if a.tooFar {
		return fmt.Sprintf("timestep %d, the partition is at %d and takes up to %d", a.timestep, a.watermark, a.furthest)
	}
	return fmt.Sprintf("timestep %d, the partition takes %d and later", a.timestep, a.watermark)
}

// BoundOpen makes a batch reject records that begin a timestep while Config.MaxOpenTimesteps are
// open. Call it only once the backlog has been read: before that, a partition that lags behind
// keeps timesteps open.
func (b *Batch) BoundOpen() { b.bound.on = true }

// OpenWith returns how many timesteps would be open if more were open too. Timesteps that are
// ready to close do not count.
func (b *Batch) OpenWith(more ...lethe.Timestep) int { return b.bound.openWith(more) }

// bound checks whether a batch may begin another timestep.
type bound struct {
	*changes
	source  Source
	passage *passage
	// on enforces Config.MaxOpenTimesteps.
	on bool
}

func (b *bound) openWith(more []lethe.Timestep) int {
	over := b.over()
	open := make(map[lethe.Timestep]bool)
	for _, t := range more {
		open[t] = !b.begun(t)
	}
	for t := range b.staging.infos {
		open[t] = b.info(t).State == lethe.Open
	}
	for t, i := range b.infos {
		open[t] = i.State == lethe.Open
	}
	n := 0
	for t, is := range open {
		if is && t >= over {
			n++
		}
	}
	return n
}

// over is the lowest watermark of the transactions partitions: timesteps below it are ready to
// close.
func (b *bound) over() lethe.Timestep {
	marks := slices.Clone(b.staging.watermarks[Transactions])
	if b.source.Stream == Transactions {
		marks[b.source.Partition] = b.passage.watermark
	}
	return slices.Min(marks)
}

func (b *bound) begun(t lethe.Timestep) bool {
	_, here := b.infos[t]
	_, before := b.staging.infos[t]
	return here || before
}

// refused rejects a record that would exceed the bound of open timesteps.
func (b *bound) refused(t lethe.Timestep) (detail string, refused bool) {
	most := b.staging.options.MaxOpenTimesteps
	if !b.on || b.begun(t) || b.openWith([]lethe.Timestep{t}) <= most {
		return "", false
	}
	return fmt.Sprintf("timestep %d, %d are open", t, most), true
}

// room rejects a new payment or label if too many are waiting or it would begin a timestep over
// the bound.
func (b *Batch) room(l *lacking.Records, t lethe.Timestep, key []byte, o Origin) (Verdict, error) {
	if detail, refused := b.bound.refused(t); refused {
		return refuse(o, ReasonTooManyOpen, detail), nil
	}
	admitted, err := l.Admits(b.get, key)
	if err != nil {
		return Verdict{}, fmt.Errorf("timestep %d: what waits: %w", t, err)
	}
	if !admitted {
		return refuse(o, ReasonTooManyWaiting, fmt.Sprintf("%d wait for transactions that have not come", l.Most)), nil
	}
	return Verdict{}, nil
}
