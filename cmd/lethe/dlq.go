package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/command"
	"lethe/pipeline/deadletters"
)

type dlqCmd struct {
	List   dlqListCmd   `cmd:"" help:"List dead letters with their reasons."`
	Show   dlqShowCmd   `cmd:"" help:"Show one dead letter, without its content."`
	Replay dlqReplayCmd `cmd:"" help:"Send dead letters to their original topics again."`
}

// Help shows an example.
func (dlqCmd) Help() string {
	return "Example:\n  lethe dlq list --reason late\n  lethe dlq show transactions.v1/3/1207\n" +
		"  lethe dlq replay --reason late"
}

// dlqFilter chooses dead letters.
type dlqFilter struct {
	Reason []string      `help:"Only records rejected for this reason. Repeatable." placeholder:"R" sep:","`
	Topic  []string      `help:"Only records of this topic, such as labels.v1. Repeatable." placeholder:"T" sep:","`
	Since  time.Duration `help:"Only records written within this time, such as 24h." placeholder:"D"`
}

// filter returns the filter of the flags, or a usage error that lists the valid values.
func (f dlqFilter) filter(now time.Time) (out deadletters.Filter, err error) {
	for _, reason := range f.Reason {
		r := ingest.Reason(reason)
		if !r.Known() {
			return out, command.Usagef("--reason %s: no such reason; one of %v", reason, ingest.Reasons())
		}
		out.Reasons = append(out.Reasons, r)
	}
	for _, topic := range f.Topic {
		t := bus.Topic(topic)
		if !slices.Contains(deadletters.Topics(), t) {
			return out, command.Usagef("--topic %s: dead letters are of %v", topic, deadletters.Topics())
		}
		out.Topics = append(out.Topics, t)
	}
	if f.Since < 0 {
		return out, command.Usagef("--since %s is negative", f.Since)
	}
	if f.Since > 0 {
		out.Since = now.Add(-f.Since)
	}
	return out, nil
}

// letterRow is a dead letter in a list, without its content.
type letterRow struct {
	Place       string             `json:"place"`
	Reason      ingest.Reason      `json:"reason"`
	Detail      string             `json:"detail"`
	Disposition ingest.Disposition `json:"disposition"`
	Waits       bool               `json:"waits"`
	ValueBytes  int                `json:"value_bytes"`
	WrittenAt   *time.Time         `json:"written_at"`
	ReplayedAt  *time.Time         `json:"replayed_at"`
}

func rowOf(l deadletters.Letter) letterRow {
	return letterRow{
		Place: l.Place(), Reason: l.Refusal.Reason, Detail: l.Refusal.Detail, Disposition: l.Disposition, Waits: l.Waits,
		ValueBytes: len(l.Record.Value), WrittenAt: known(l.Record.Time), ReplayedAt: known(l.Replayed),
	}
}

// known is nil for an unknown time.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

type dlqListCmd struct {
	brokerFlags
	dlqFilter
	Open  bool `help:"Omit records that were sent again and are not processed yet."`
	Limit int  `help:"List at most this many; 0: all." default:"50"`
	JSON  bool `help:"Print one JSON document."`
}

// Help shows an example.
func (dlqListCmd) Help() string {
	return `Example:
  lethe dlq list --reason late --topic transactions.v1 --since 24h

A place is topic/partition/offset of the rejected record. The number of records for each reason
comes first. The content of records is never printed.`
}

// Run lists dead letters.
func (c *dlqListCmd) Run(a *command.App) error {
	f, err := c.filter(time.Now())
	if err != nil {
		return err
	}
	if c.Limit < 0 {
		return command.Usagef("--limit is %d, and must be 0 or more", c.Limit)
	}
	f.Open = c.Open
	client, err := c.open(a)
	if err != nil {
		return err
	}
	defer client.Close()
	all, err := deadletters.List(a.Context, client, f)
	if err != nil {
		return err
	}
	reasons := make(map[ingest.Reason]int)
	for _, l := range all {
		reasons[l.Refusal.Reason]++
	}
	shown := all
	if c.Limit > 0 {
		shown = all[:min(c.Limit, len(all))]
	}
	list := []letterRow{}
	for _, l := range shown {
		list = append(list, rowOf(l))
	}
	if c.JSON {
		return a.PrintJSON(map[string]any{"count": len(all), "reasons": reasons, "letters": list})
	}
	fmt.Fprintf(a.Stdout, "dead letters: %d\n", len(all))
	byCount := slices.SortedFunc(maps.Keys(reasons), func(a, b ingest.Reason) int {
		return cmp.Or(cmp.Compare(reasons[b], reasons[a]), cmp.Compare(a, b))
	})
	for _, r := range byCount {
		fmt.Fprintf(a.Stdout, "  %d %s\n", reasons[r], r)
	}
	if len(list) == 0 {
		return nil
	}
	if err := command.Table(a.Stdout, letterTable(list)); err != nil {
		return err
	}
	if n := len(all) - len(shown); n > 0 {
		fmt.Fprintf(a.Stdout, "%d more (--limit)\n", n)
	}
	return nil
}

func letterTable(list []letterRow) [][]string {
	rows := [][]string{{"place", "reason", "detail", "bytes", "written", "what now"}}
	for _, l := range list {
		written := "-"
		if l.WrittenAt != nil {
			written = l.WrittenAt.UTC().Format(time.DateTime)
		}
		rows = append(rows, []string{
			l.Place, string(l.Reason), cmp.Or(l.Detail, "-"), strconv.Itoa(l.ValueBytes), written, whatNow(l),
		})
	}
	return rows
}

// whatNow describes the next step for a dead letter.
func whatNow(l letterRow) string {
	switch {
	case l.ReplayedAt != nil:
		return "sent again " + l.ReplayedAt.UTC().Format(time.DateTime)
	case l.Waits:
		return "waits for what it names"
	case l.Disposition == ingest.Replayable:
		return "replay"
	case l.Disposition == ingest.Withheld:
		return "nothing is kept"
	default:
		return "mend the record and send it"
	}
}
