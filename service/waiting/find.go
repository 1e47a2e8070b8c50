package waiting

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lethe"
)

// Condition is something that becomes a wait if it lasts.
type Condition struct {
	Wait
	// Sign changes when the condition makes progress, which restarts its time.
	Sign string
	// Lasts is how long it must hold before it is a wait.
	Lasts time.Duration
}

const (
	// leastFree is the free space below which a disk counts as full: a store is rewritten next to the old
	// one.
	leastFree = 512 << 20
	// mostAhead is how far a producer's clock may be ahead.
	mostAhead = 5 * time.Minute
	// fewRejected is the minimum number of records for judging a share of them, fewAlike the minimum for judging
	// more than half.
	fewRejected, fewAlike = 20, 5
	// trainingTimes is how many times longer than other conditions a model may be in training.
	trainingTimes = 10
	// jumpReason, waitingReason, openReason and partitionReason are reasons of rejections with causes of their
	// own.
	jumpReason, waitingReason, openReason = "timestep_jump", "too_many_waiting", "too_many_open"
	partitionReason                       = "wrong_partition"
)

// Find returns the conditions that hold, in the order of Causes.
func Find(f Facts) []Condition {
	var out []Condition
	for _, find := range []func(Facts) []Condition{
		surroundings, processes, openTransactions, rejections, ownCauses, partitionsBehind, labelsUnsettled, modelsMissing,
		quiet, openTimesteps, clocks, erasures, alerts,
	} {
		out = append(out, find(f)...)
	}
	slices.SortStableFunc(out, func(a, b Condition) int {
		return slices.Index(Causes(), a.Cause) - slices.Index(Causes(), b.Cause)
	})
	return out
}

// surroundings checks brokers, topics, disk and file descriptors. Their own checks have already applied a
// delay.
func surroundings(f Facts) (out []Condition) {
	add := func(cause Cause, move Party, message, do string) {
		out = append(out, Condition{Wait: Wait{Cause: cause, Move: move, Message: message, Do: do}})
	}
	if place, why := First(f.Brokers); place != "" {
		add(BrokersAway, Broker, fmt.Sprintf("%d places cannot be read or written; %s: %s.", len(f.Brokers), place, why),
			"See that the brokers run and can be reached. lethe continues by itself.")
	}
	if len(f.Topics) > 0 {
		add(TopicsWrong, Operator, fmt.Sprintf("%d problems with topics; %s.", len(f.Topics), f.Topics[0]),
			"See docs/operations.md, Components of /readyz; for settings, run lethe topics plan.")
	}
	if path, why := First(f.Disk); path != "" {
		add(DiskFull, Operator, fmt.Sprintf("%d files cannot be written; %s.", len(f.Disk), why),
			"Make room, or mount the file system for writing. lethe continues by itself.")
	} else if f.FreeBytes >= 0 && f.FreeBytes < leastFree {
		add(DiskFull, Operator, fmt.Sprintf("The disk of the data directory has %d MiB free, less than %d.", f.FreeBytes>>20,
			leastFree>>20),
			"Make room: lethe stops scoring when the disk is full.")
	}
	if f.MostFiles > 0 && f.OpenFiles*10 > f.MostFiles*9 {
		add(FileDescriptors, Operator, fmt.Sprintf("%d of %d file descriptors are in use.", f.OpenFiles, f.MostFiles),
			"Raise the limit (ulimit -n 4096, or LimitNOFILE) and restart lethe.")
	}
	return out
}

// First returns the first entry by key.
func First(of map[string]string) (key, value string) {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		return key, of[key]
	}
	return "", ""
}

// at returns a condition of a partition.
func (p Partition) at(cause Cause, lasts time.Duration, message, do string) Condition {
	return Condition{
		Wait:  Wait{Cause: cause, Move: Producer, Message: message, Do: do, Topic: p.Topic, Partition: &p.Number},
		Lasts: lasts,
	}
}

// of sets the timestep of a condition, which is its sign, too.
func (c Condition) of(t lethe.Timestep) Condition {
	c.Timestep, c.Sign = &t, fmt.Sprint(t)
	return c
}

// openTransactions finds partitions whose last stable offset does not advance to the high watermark.
func openTransactions(f Facts) (out []Condition) {
	for _, p := range slices.Concat(f.Transactions, f.Labels) {
		if p.Stable < 0 || p.High <= p.Stable {
			continue
		}
		// A producer may commit every half minute.
		c := p.at(OpenTransaction, f.After+f.After/2, fmt.Sprintf("A producer's transaction is open on %s partition %d: "+
			"offsets %d to %d cannot be read.", p.Topic, p.Number, p.Stable, p.High-1),
			"Have the producer commit or abort its transaction, or abort it with kafka-transactions.sh abort.")
		c.Sign = fmt.Sprint(p.Stable)
		out = append(out, c)
	}
	return out
}

// partitionsBehind finds partitions of transactions that have not passed a timestep that others have
// passed.
func partitionsBehind(f Facts) (out []Condition) {
	lowest, highest := watermarks(f.Transactions)
	oldest := lethe.NoTimestep
	for _, s := range f.Steps {
		if s.State == lethe.Open && s.Timestep >= lowest && s.Timestep < highest {
			oldest = s.Timestep
			break
		}
	}
	if oldest == lethe.NoTimestep {
		return nil
	}
	for _, p := range f.Transactions {
		if p.Watermark > oldest || p.unread() {
			continue
		}
		c := p.at(PartitionBehind, f.After, fmt.Sprintf("Timestep %d is open: %s partition %d has not passed it, and others "+
			"have.%s", oldest, p.Topic, p.Number, p.last()),
			fmt.Sprintf("Send a close record for timestep %d to every partition of %s.", oldest, p.Topic))
		out = append(out, c.of(oldest))
	}
	return out
}

// unread reports whether records of the partition have yet to be read: no action is needed then.
func (p Partition) unread() bool { return p.Due > p.Read }

// last formats the time of the partition's latest record, if it is known.
func (p Partition) last() string {
	if p.Newest.IsZero() {
		return ""
	}
	return " Its latest record is of " + p.Newest.UTC().Format(time.RFC3339) + "."
}

func watermarks(list []Partition) (lowest, highest lethe.Timestep) {
	if len(list) == 0 {
		return 0, 0
	}
	by := func(a, b Partition) int { return cmp.Compare(a.Watermark, b.Watermark) }
	return slices.MinFunc(list, by).Watermark, slices.MaxFunc(list, by).Watermark
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// quiet detects a stream that has stopped within a timestep: no partition has passed it, and no
// records arrive.
func quiet(f Facts) []Condition {
	_, highest := watermarks(f.Transactions)
	open := lethe.NoTimestep
	for _, s := range f.Steps {
		if s.State == lethe.Open && s.Timestep >= highest {
			open = s.Timestep
			break
		}
	}
	if open == lethe.NoTimestep || len(f.Transactions) == 0 {
		return nil
	}
	var sign strings.Builder
	newest := time.Time{}
	for _, p := range f.Transactions {
		if p.unread() {
			return nil
		}
		fmt.Fprintf(&sign, " %d", p.Read)
		newest = latest(newest, p.Newest)
	}
	topic := f.Transactions[0].Topic
	c := Condition{Lasts: f.Quiet, Wait: Wait{
		Cause: StreamQuiet, Move: Producer, Topic: topic,
		Message: fmt.Sprintf("Timestep %d is open, and nothing comes to %s.%s", open, topic,
			Partition{Newest: newest}.last()),
		Do: fmt.Sprintf("See that the producer runs; when timestep %d is complete, send a close record for it to every "+
			"partition of %s.", open, topic),
	}}.of(open)
	c.Sign += sign.String()
	return []Condition{c}
}
