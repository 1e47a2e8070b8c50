package role

import (
	"context"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// Stale tells, of topics that who leads alone writes, which records somebody wrote there who led no more: it hung in
// the midst of a write, or brokers got that late, and another one had taken over. Readers leave these out, see
// wire.Fence, but what stood in their place is gone once the topic is compacted. So who leads reads these topics,
// and says that again. Up to where that is done is announced with all else that it has dealt with: whoever takes over
// goes on from there.
type Stale struct {
	from, taken map[bus.TopicPartition]int64
	// own is the epoch of this process, newest that of the last record of each partition.
	own    int64
	newest map[bus.TopicPartition]int64
}

// Stale begins to tell of topics, for a process that has begun an epoch. What stands in them up to where they ended as
// that began it has taken into account, or need not.
func (s *Standing) Stale(ctx context.Context, b Bus, of ...bus.Topic) (*Stale, error) {
	from, err := s.Unnoted(ctx, b, of...)
	if err != nil {
		return nil, err
	}
	out := &Stale{from: from, taken: s.ends, own: s.journal.Epoch(), newest: make(map[bus.TopicPartition]int64)}
	for tp := range from {
		// Where nothing was announced, everything is read, and tells itself who came before whom.
		if out.from[tp] >= 0 {
			out.from[tp] = min(out.from[tp], out.taken[tp])
			out.newest[tp] = out.own - 1
		}
	}
	s.Lead.dealtWith(out.from) // as it stood by it has dealt with more, and looked for nothing
	return out, nil
}

// From is where a partition is read from.
func (s *Stale) From(tp bus.TopicPartition) int64 {
	if at, known := s.from[tp]; known {
		return at
	}
	return bus.FromStart
}

// Taken is up to where this process has taken into account what stands in a partition before it leads.
func (s *Stale) Taken(tp bus.TopicPartition) int64 { return s.taken[tp] }

// Is reports whether a record, which comes after those that were asked about before, is one of somebody who led no
// more.
func (s *Stale) Is(rec ingest.Record) bool {
	by, tells := wire.OwnerOf(rec)
	if !tells || rec.Unproven != "" {
		return false
	}
	tp := bus.TopicPartition{Topic: bus.Topic(rec.Topic), Partition: rec.Partition}
	newest := s.newest[tp]
	if rec.Offset >= s.taken[tp] {
		newest = max(newest, s.own)
	}
	if by.Generation < newest {
		return true
	}
	s.newest[tp] = by.Generation
	return false
}

// Former tells of the records of a topic that those write who lead, and nobody follows, which ones somebody wrote who
// led no more.
type Former struct {
	// From is where the epoch before began: whoever led then may not have come to what was written late since.
	From map[bus.TopicPartition]int64
	// ends are where the topic ended as this process began its epoch, own.
	ends map[bus.TopicPartition]int64
	own  int64
}

// Former begins to tell, for a process that has begun an epoch with where the topic ends. before is where topics ended
// as the epoch before began.
func (s *Standing) Former(before journal.EpochBegan, of bus.Topic) Former {
	f := Former{make(map[bus.TopicPartition]int64), make(map[bus.TopicPartition]int64), s.journal.Epoch()}
	for tp, end := range s.ends {
		if tp.Topic == of {
			f.From[tp], f.ends[tp] = before.Ends[tp.String()], end
		}
	}
	return f
}

// Late reports whether a record is one of somebody who led no more.
func (f Former) Late(rec ingest.Record) bool {
	newest, tp := f.own-1, bus.TopicPartition{Topic: bus.Topic(rec.Topic), Partition: rec.Partition}
	if rec.Offset >= f.ends[tp] {
		newest = f.own
	}
	by, tells := wire.OwnerOf(rec)
	return tells && rec.Offset >= f.From[tp] && by.Generation < newest
}
