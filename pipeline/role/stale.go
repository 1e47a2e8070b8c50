package role

import (
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// Former tells the records of a topic that a process wrote when it led no more. Only the role's leader writes the
// topic, and no other process follows it.
type Former struct {
	of bus.Topic
	// From is where the epoch before began: its leader may not have come to what was written late since.
	From map[bus.TopicPartition]int64
	// before is the number of that epoch. ends are where the topic ended as this process began its epoch, own.
	before, own int64
	ends        map[bus.TopicPartition]int64
}

// Former returns that of a process that has begun an epoch with where the topic ends. before is the beginning of the
// newest epoch with decisions, or the zero entry: epochs since then were given up before they wrote anything.
func (s *Standing) Former(before journal.Entry, of bus.Topic) Former {
	f := Former{
		of: of, From: make(map[bus.TopicPartition]int64), before: before.Epoch, own: s.journal.Epoch(),
		ends: make(map[bus.TopicPartition]int64),
	}
	began, _ := before.Decision.(journal.EpochBegan)
	for tp, end := range s.ends {
		if tp.Topic == of {
			f.From[tp], f.ends[tp] = began.Ends[tp.String()], end
		}
	}
	return f
}

// Late reports whether a record is one of a process that led no more.
func (f Former) Late(rec ingest.Record) bool {
	newest, tp := f.before, bus.TopicPartition{Topic: f.of, Partition: rec.Partition} // a record has the prefixed name
	if rec.Offset >= f.ends[tp] {
		newest = f.own
	}
	by, tells := wire.OwnerOf(rec)
	return tells && rec.Offset >= f.From[tp] && by.Generation < newest
}
