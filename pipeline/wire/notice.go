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

// Notice is a record of control.v1: at most one field besides the offset is set. Deleted is the request of a deleted
// command.
type Notice struct {
	Offset  int64
	Status  *deletions.Status
	Command *Command
	Ack     *deletions.Ack
	// Instance is the data directory that has a role alone from here on.
	Instance *Instance
	// Member is a data directory that shares a role from here on, Strike one that an operator has struck off.
	Member *Member
	Strike *Strike
	// Barrier is a barrier: all records before it have been read.
	Barrier *Barrier
	// Settings are those of a role from here on.
	Settings *Settings
	Deleted  string
	// Late means that a fenced leader wrote the record, or that it is a copy of an earlier one.
	Late bool
}

// isStatus reports whether a value is, or claims to be, the status of a request.
func isStatus(value []byte) bool {
	// A quick check first: commands may be long, and lethe escapes nothing in the name.
	if !bytes.Contains(value, []byte(deletions.StatusFormatName)) {
		return false
	}
	var head struct {
		Format string `json:"format"`
	}
	return json.Unmarshal(value, &head) == nil && strings.HasPrefix(head.Format, deletions.StatusFormatName)
}

// NoticeReader reads the records of control.v1 in their order. One goroutine uses it.
type NoticeReader struct {
	chunks *bus.Assembler
	// leaders and commands identify late commands and copies.
	leaders  *Leaders
	commands Once
}

// NewNoticeReader returns a reader that has read nothing.
func NewNoticeReader() *NoticeReader {
	return &NoticeReader{chunks: bus.NewAssembler(), leaders: new(Leaders)}
}

// LedBy makes the reader report late records of fenced leaders as such.
func (r *NoticeReader) LedBy(leaders *Leaders) *NoticeReader {
	r.leaders = leaders
	return r
}

// Read is ParseNotice, except that a command in several records is returned with its last one, and a late record is
// only marked.
func (r *NoticeReader) Read(rec ingest.Record) (Notice, error) {
	if r.stale(rec) {
		return Notice{Late: true}, nil
	}
	if rec.Unauthenticated != "" || !isChunk(string(rec.Key)) || isStatus(rec.Value) {
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

// stale reports whether a record is late or a copy. Of a request that has ended the topic has the ledger's copy only.
func (r *NoticeReader) stale(rec ingest.Record) bool {
	return rec.Unauthenticated == "" && isLeaders(rec.Key) && (r.leaders.Stale(bus.Control, rec) || r.commands.Again(rec))
}

// isChunk reports whether a key is that of a chunk of a command: a request id has no slash.
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

// ofProcess decodes control records of processes, and of operators about them. It ignores others.
func ofProcess(rec ingest.Record, key string) (n Notice, err error) {
	switch {
	case strings.HasPrefix(key, instances().prefix):
		n.Instance, err = pointer(ParseInstance(rec))
	case strings.HasPrefix(key, members().prefix):
		n.Member, err = pointer(ParseMember(rec))
	case strings.HasPrefix(key, strikes().prefix):
		n.Strike, err = pointer(ParseStrike(rec))
	case key == barriers().prefix:
		n.Barrier, err = pointer(ParseBarrier(rec))
	case strings.HasPrefix(key, settingsPrefix):
		n.Settings, err = pointer(ParseSettings(rec))
	}
	return n, err
}

// pointer points to a value that was found, or is nil.
func pointer[T any](what T, found bool, err error) (*T, error) {
	if !found {
		return nil, err
	}
	return &what, err
}

// ParseNotice decodes a record of control.v1. Markers and chunks give an empty notice. Errors: ErrUnauthenticated, and
// those of the content.
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
		// A request id may look like another key.
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
