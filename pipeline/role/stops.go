package role

import (
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// stops are where the partitions of a process that stands by halt for a request, until all have come there: who leads
// had taken what stands before as it began to suppress what the request names, and nothing of that since. Commands are
// read at once. If this process suppressed at once, too, it would lack what the leader has if the request is taken
// back.
type stops struct {
	notices  *wire.NoticeReader
	commands map[string][]*wire.Command
	epochs   epochs
}

func newStops() *stops {
	return &stops{notices: wire.NewNoticeReader(), commands: make(map[string][]*wire.Command)}
}

// hear notes the commands of a batch of control.v1, and who leads. Once anything is rewritten a request is not taken
// back any more.
func (s *stops) hear(batch bus.Batch) {
	if batch.Source.Topic == bus.Journal {
		s.epochs.read(batch, func(ingest.Record) {}) // the role says what is wrong with them
		s.notices.Behind(s.epochs.led)
	}
	if batch.Source.Topic != bus.Control {
		return
	}
	for _, rec := range batch.Records {
		n, err := s.notices.Read(rec)
		switch c := n.Command; {
		case err != nil: // the role says what is wrong with it
		case n.Deleted != "":
			delete(s.commands, n.Deleted)
		case c != nil && c.Phase == wire.PhaseSuppress:
			s.commands[c.RequestID] = append(s.commands[c.RequestID], c)
		case c != nil:
			delete(s.commands, c.RequestID)
		}
	}
}

// forget has nothing halt any more: so much waits that partitions are not read which others halt for.
func (s *stops) forget() { clear(s.commands) }

// before returns a position up to which a partition may be given, if there is one to halt at.
func (s *stops) before(tp bus.TopicPartition, given map[bus.TopicPartition]int64) (at int64, halts bool) {
	for _, list := range s.commands {
		for _, c := range list {
			if c.IsReached(given) {
				continue
			}
			if taken, said := c.Taken[tp.String()]; said && (!halts || taken < at) {
				at, halts = taken, true
			}
		}
	}
	return at, halts
}

// upTo returns up to where a partition may be given, and whether that is in the midst of a batch because it halts
// there. What cannot be read is not cut.
func (g *gate) upTo(batch bus.Batch) (at int64, halts bool) {
	at = g.announced[batch.Source]
	stop, halts := g.stops.before(batch.Source, g.given)
	if halts = halts && stop < batch.Next && batch.Gap == nil; halts {
		at = min(at, stop)
	}
	return at, halts
}
