package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// ackPrefix begins the keys of acknowledgements.
const ackPrefix = "ack/"

// Notice is what a record of control.v1 says: at most one field is set, beside the record's offset.
// Deleted is the request whose command was deleted.
type Notice struct {
	Offset  int64
	Status  *deletions.Status
	Command *Command
	Ack     *deletions.Ack
	// Instance is the data directory that plays a role from here on.
	Instance *Instance
	// Member is a data directory that shares the work of a role from here on, Strike one that
	// an operator has struck off.
	Member *Member
	Strike *Strike
	// Barrier says that what stands before it has been read.
	Barrier *Barrier
	// Settings are those of a role from here on.
	Settings *Settings
	Deleted  string
	// Late says that a fenced leader wrote the record, or that it is a copy of what a leader wrote before.
	Late bool
}

// isStatus reports whether a value is, or claims to be, the status of a request.
func isStatus(value []byte) bool {
	// A command of many requests is long, and lethe escapes nothing in the name.
	if !bytes.Contains(value, []byte(deletions.StatusFormatName)) {
		return false
	}
	var head struct {
		Format string `json:"format"`
	}
	return json.Unmarshal(value, &head) == nil && strings.HasPrefix(head.Format, deletions.StatusFormatName)
}

// NoticeReader reads the records of control.v1, in their order. One goroutine
// uses it.
type NoticeReader struct {
	chunks *bus.Assembler
	// leaders and commands tell which commands are left out.
	leaders  *Leaders
	commands Once
}

// NewNoticeReader returns a reader that has read nothing.
func NewNoticeReader() *NoticeReader {
	return &NoticeReader{chunks: bus.NewAssembler(), leaders: new(Leaders)}
}

// LedBy has the reader leave out what leaders of graphs wrote late whom these tell.
func (r *NoticeReader) LedBy(leaders *Leaders) *NoticeReader {
	r.leaders = leaders
	return r
}

// Read is ParseNotice, but for a command in several records: its last one says what the
// command does, the others say nothing. Nor does one that is late.
func (r *NoticeReader) Read(rec ingest.Record) (Notice, error) {
	if r.stale(rec) {
		return Notice{Late: true}, nil
	}
	if rec.Unproven != "" || !isChunk(string(rec.Key)) || isStatus(rec.Value) {
		return ParseNotice(rec)
	}
	payload, complete, err := r.chunks.Add(rec)
	if err != nil || !complete || payload.Retracted {
		return Notice{}, err
	}
	command, err := parseCommand(payload.Bytes)
	if err != nil {
		return Notice{}, fmt.Errorf("%s/%d@%d: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return Notice{Command: command}, nil
}

// stale reports whether who wrote a record had been replaced by another process before, or has said it before. Of a
// request that has ended nothing but the ledger's copy stays in the topic.
func (r *NoticeReader) stale(rec ingest.Record) bool {
	return rec.Unproven == "" && isLeaders(rec.Key) && (r.leaders.Stale(bus.Control, rec) || r.commands.Again(rec))
}

// isChunk reports whether a key is that of a chunk of a command: a request id has no
// slash.
func isChunk(key string) bool {
	rest, command := strings.CutPrefix(key, commandPrefix)
	return command && strings.Contains(rest, "/")
}

func parseCommand(value []byte) (*Command, error) {
	var c Command
	if err := json.Unmarshal(value, &c); err != nil {
		return nil, err
	}
	if c.Format != commandFormat {
		return nil, fmt.Errorf("format %q, want %q", c.Format, commandFormat)
	}
	return &c, nil
}

// ofProcess reads what a process says of itself, or an operator of one. Other control records
// say nothing.
func ofProcess(rec ingest.Record, key string) (n Notice, err error) {
	switch {
	case strings.HasPrefix(key, instancePrefix):
		n.Instance, err = pointer(ParseInstance(rec))
	case strings.HasPrefix(key, memberPrefix):
		n.Member, err = pointer(ParseMember(rec))
	case strings.HasPrefix(key, strikePrefix):
		n.Strike, err = pointer(ParseStrike(rec))
	case key == barrierKey:
		n.Barrier, err = pointer(ParseBarrier(rec))
	case strings.HasPrefix(key, settingsPrefix):
		n.Settings, err = pointer(ParseSettings(rec))
	}
	return n, err
}

// pointer points to what was found, or is nil.
func pointer[T any](what T, found bool, err error) (*T, error) {
	if !found {
		return nil, err
	}
	return &what, err
}

// ParseNotice reads a record of control.v1. Control records say nothing, nor do
// parts of a command. Errors: ErrUnproven, and what is wrong with the content.
func ParseNotice(rec ingest.Record) (Notice, error) {
	key := string(rec.Key)
	var n Notice
	err := proven(rec)
	switch {
	case err != nil:
	case strings.HasPrefix(key, "!"):
		return ofProcess(rec, key)
	case rec.Tombstone():
		if id, command := strings.CutPrefix(key, commandPrefix); command && !isChunk(key) {
			n.Deleted = id
		}
	case isStatus(rec.Value):
		// A request id may be what begins the other keys.
		var s deletions.Status
		s, err = deletions.DecodeStatus(rec.Value)
		n.Status = &s
	case isChunk(key):
	case strings.HasPrefix(key, commandPrefix):
		n.Command, err = parseCommand(rec.Value)
	case strings.HasPrefix(key, ackPrefix):
		var a deletions.Ack
		a, err = deletions.DecodeAck(rec.Value)
		n.Ack = &a
	default:
		err = errors.New("neither a status nor a command nor an acknowledgement")
	}
	if err != nil {
		return Notice{}, fmt.Errorf("%s/%d@%d: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return n, nil
}
