// Package ingesttest decodes dead letters in tests, by the header names that the
// operators' guide promises and not by the constants of ingest.
package ingesttest

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lethe/ingest"
)

// ErrNotDeadLetter marks a record without the headers of a DeadLetter. The caller should
// leave the record unchanged.
var ErrNotDeadLetter = errors.New("not a dead letter")

// Letter is a decoded dead letter.
type Letter struct {
	// Record is the original record. Key and value are nil if Withheld.
	Record      ingest.Record
	Refusal     ingest.Refusal
	Disposition ingest.Disposition
	// Version is the version of the program that rejected the record.
	Version string
	// Cut lists the parts of the original that are not stored whole, with their length
	// and SHA-256.
	Cut string
}

// ParseDeadLetter decodes a dead letter. The error is ErrNotDeadLetter.
func ParseDeadLetter(rec ingest.Record) (Letter, error) {
	letter := Letter{Record: ingest.Record{Key: rec.Key, Value: rec.Value}}
	found := map[string]string{}
	for _, h := range rec.Headers {
		if name, ours := strings.CutPrefix(h.Key, "lethe.dlq."); ours {
			found[name] = string(h.Value)
		} else {
			letter.Record.Headers = append(letter.Record.Headers, h)
		}
	}
	letter.Refusal = ingest.Refusal{Reason: ingest.Reason(found["reason"]), Detail: found["detail"]}
	letter.Disposition = ingest.Disposition(found["disposition"])
	letter.Version, letter.Cut = found["version"], found["cut"]
	letter.Record.Topic = found["topic"]
	for _, prefix := range []string{">!refused!", ">!"} {
		letter.Record.Key = bytes.TrimPrefix(letter.Record.Key, []byte(prefix+found["topic"]+">"))
	}
	var err, problems error
	if letter.Refusal.Reason == "" || letter.Record.Topic == "" {
		problems = errors.New("no reason or no topic")
	}
	if letter.Record.Partition, err = strconv.Atoi(found["partition"]); err != nil {
		problems = errors.Join(problems, errors.New("partition is not a number"))
	}
	if letter.Record.Offset, err = strconv.ParseInt(found["offset"], 10, 64); err != nil {
		problems = errors.Join(problems, errors.New("offset is not a number"))
	}
	if at := found["time"]; at != "" {
		if letter.Record.Time, err = time.Parse(time.RFC3339Nano, at); err != nil {
			problems = errors.Join(problems, errors.New("time is not RFC 3339"))
		}
	}
	if problems != nil {
		return Letter{}, fmt.Errorf("%s/%d@%d: %w: %w", rec.Topic, rec.Partition, rec.Offset, ErrNotDeadLetter, problems)
	}
	for part := range strings.SplitSeq(found["null"], ",") {
		switch part {
		case "key":
			letter.Record.Key = nil
		case "value":
			letter.Record.Value = nil
		}
	}
	return letter, nil
}
