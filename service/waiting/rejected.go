package waiting

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"lethe"
)

// fewOfAll is the acceptable share of late records among a topic's latest ones: one in so many.
const fewOfAll = 10

// lateReason is the reason for which a few rejections are normal in a stream, and no fault.
const lateReason = "late"

// manyLate reports whether more than a few of a topic's latest records were late. Within a batch rejected records
// are counted before accepted ones, so a single moment is not representative.
func (o Outcome) manyLate() bool {
	all, late := o.Accepted+o.Rejected, o.Reasons[lateReason]
	return all >= fewRejected && late*fewOfAll > all || all >= fewAlike && late*2 > all || late > 0 && o.Accepted == 0
}

// rejections finds topics with rejected records among the latest ones, however few; late ones only if there are
// many. Reasons with causes of their own are excluded.
func rejections(f Facts) (out []Condition) {
	for _, topic := range slices.Sorted(maps.Keys(f.Intake)) {
		o := f.Intake[topic]
		others := maps.Clone(o.Reasons)
		for _, own := range []string{openReason, waitingReason, partitionReason, jumpReason} {
			delete(others, own)
		}
		onlyLate := others[lateReason] > 0 && len(others) == 1
		reason := mostFrequent(others)
		if reason == "" || onlyLate && !o.manyLate() {
			continue
		}
		out = append(out, Condition{Lasts: f.After, Wait: Wait{
			Cause: RecordsRejected, Move: Producer, Topic: topic,
			Message: fmt.Sprintf("%d of the latest %d records of %s were rejected, %d of them as %s.", o.Rejected,
				o.Accepted+o.Rejected, topic, others[reason], reason),
			Do: fmt.Sprintf("See lethe dlq list --reason %s; have the producer send what docs/topics.md describes.", reason),
		}})
	}
	return out
}

// ownCauses finds topics with rejected records, however few, of the reasons with causes of their own.
func ownCauses(f Facts) (out []Condition) {
	for _, topic := range slices.Sorted(maps.Keys(f.Intake)) {
		o := f.Intake[topic]
		all := o.Accepted + o.Rejected
		add := func(n int, lasts time.Duration, w Wait) {
			if w.Topic = topic; n > 0 {
				out = append(out, Condition{Lasts: lasts, Wait: w})
			}
		}
		n := o.Reasons[jumpReason]
		add(n, f.After, Wait{
			Cause: TimestepGap, Move: Operator,
			Message: fmt.Sprintf("%d of the latest %d records of %s were rejected, %d of them as %s.", o.Rejected, all, topic, n,
				jumpReason),
			Do: fmt.Sprintf("If the stream begins there, set ingest.first_timestep; if the gap is real, raise "+
				"ingest.max_timestep_jump (%d); then run lethe dlq replay --reason %s. Else have the producer correct its "+
				"timesteps.", f.MostJump, jumpReason),
		})
		n = o.Reasons[partitionReason]
		add(n, 0, Wait{
			Cause: WrongPartition, Move: Producer,
			Message: fmt.Sprintf("%d of the latest %d records of %s were rejected: they are not in the partitions of their "+
				"keys.", n, all, topic),
			Do: fmt.Sprintf("Set the producer's partitioner to murmur2 (librdkafka: partitioner=murmur2_random), then run "+
				"lethe dlq replay --reason %s.", partitionReason),
		})
		n = o.Reasons[waitingReason]
		add(n, 0, Wait{
			Cause: TooManyWaiting, Move: Producer,
			Message: fmt.Sprintf("%d records of %s were rejected: too many wait for transactions that have not come "+
				"(ingest.max_waiting).", n, topic),
			Do: fmt.Sprintf("Send the transactions that they name, then run lethe dlq replay --reason %s.", waitingReason),
		})
	}
	return out
}

// mostFrequent returns the most frequent reason, the first by name among equals.
func mostFrequent(reasons map[string]int) (most string) {
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		if most == "" || reasons[reason] > reasons[most] {
			most = reason
		}
	}
	return most
}

// openTimesteps checks the limit of open timesteps.
func openTimesteps(f Facts) []Condition {
	lowest, _ := watermarks(f.Transactions)
	open := 0
	for _, s := range f.Steps {
		if s.State == lethe.Open && s.Timestep >= lowest {
			open++
		}
	}
	if f.MostOpen == 0 || open < f.MostOpen {
		return nil
	}
	return []Condition{{Wait: Wait{
		Cause: TooManyOpen, Move: Producer,
		Message: fmt.Sprintf("%d timesteps are open, and more are rejected (ingest.max_open_timesteps).", open),
		Do: fmt.Sprintf("Send close records to every partition for timesteps that are complete, then run lethe dlq replay "+
			"--reason %s.", openReason),
	}}}
}

// clocks finds partitions whose latest record is dated in the future.
func clocks(f Facts) (out []Condition) {
	for _, p := range slices.Concat(f.Transactions, f.Labels) {
		if ahead := p.Newest.Sub(f.Now); ahead > mostAhead {
			out = append(out, p.at(ClockAhead, f.After, fmt.Sprintf("The latest record of %s partition %d is dated %s ahead of "+
				"this machine's clock.", p.Topic, p.Number, ahead.Round(time.Second)),
				"Synchronise the clocks of the producer and of this machine."))
		}
	}
	return out
}
