package role

import (
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// Former tells of the records of a topic that those write who lead, and nobody follows, which ones somebody wrote who
// led no more.
type Former struct {
	of bus.Topic
	// From is where the epoch before began: whoever led then may not have come to what was written late since.
	From map[bus.TopicPartition]int64
	// ends are where the topic ended as this process began its epoch, own.
	ends map[bus.TopicPartition]int64
	own  int64
}

// Former begins to tell, for a process that has begun an epoch with where the topic ends. before is where topics ended
// as the epoch before began.
func (s *Standing) Former(before journal.EpochBegan, of bus.Topic) Former {
	f := Former{of, make(map[bus.TopicPartition]int64), make(map[bus.TopicPartition]int64), s.journal.Epoch()}
	for tp, end := range s.ends {
		if tp.Topic == of {
			f.From[tp], f.ends[tp] = before.Ends[tp.String()], end
		}
	}
	return f
}

// Late reports whether a record is one of somebody who led no more.
func (f Former) Late(rec ingest.Record) bool {
	newest, tp := f.own-1, bus.TopicPartition{Topic: f.of, Partition: rec.Partition} // a record has the prefixed name
	if rec.Offset >= f.ends[tp] {
		newest = f.own
	}
	by, tells := wire.OwnerOf(rec)
	return tells && rec.Offset >= f.From[tp] && by.Generation < newest
}
