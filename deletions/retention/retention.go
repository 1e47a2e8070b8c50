// Package retention requests the erasure of timesteps older than the retention period: a request per timestep, or
// per thousand transactions of a large one. Held transactions have requests of their own, so that the rest need not
// wait.
package retention

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/record"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/snapshot"
)

// atOnce bounds the timesteps requested in one call.
const atOnce = 8

// Reason is the reason of these requests.
const Reason = "retention"

// Graphs is a snapshot.Store.
type Graphs interface {
	Timesteps() []snapshot.Info
	Load(t lethe.Timestep) (*snapshot.Content, error)
	Marks() snapshot.Marks
}

// Writer publishes requests.
type Writer interface {
	Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error
}

// Ledger is a deletions.Ledger.
type Ledger interface {
	Holds() ([]deletions.Hold, error)
	Get(requestID string) (deletions.Entry, error)
}

// Retention requests the erasure of old timesteps. The zero value keeps all.
type Retention struct {
	// Keep is the number of timesteps kept, counted back from the newest settled one; 0 for all.
	Keep int
	// Most bounds the targets of a request.
	Most   int
	Scope  lethe.Scope
	Secret lethe.Secret
	Graphs Graphs
	Ledger Ledger
	Out    Writer
	Now    func() time.Time
}

// Advance publishes requests for timesteps that are too old, or got records since their last request. A crash
// repeats the same requests.
func (r Retention) Advance(ctx context.Context) error {
	due, err := r.due()
	if err != nil || len(due) == 0 {
		return err
	}
	holds, err := r.Ledger.Holds()
	if err != nil {
		return fmt.Errorf("retention: %w", err)
	}
	kept := deletions.KeptBy(r.Now(), holds...)
	for _, info := range due {
		if err := r.ask(ctx, info, kept); err != nil {
			return fmt.Errorf("retention of timestep %d: %w", info.Timestep, err)
		}
	}
	return nil
}

// due are the timesteps to request, ascending.
func (r Retention) due() (due []snapshot.Info, err error) {
	if r.Keep <= 0 {
		return nil, nil
	}
	var settled []snapshot.Info
	newest := lethe.NoTimestep
	for _, info := range r.Graphs.Timesteps() {
		if info.State == lethe.Settled {
			settled, newest = append(settled, info), max(newest, info.Timestep)
		}
	}
	for _, info := range settled {
		if info.Timestep > newest-lethe.Timestep(r.Keep) || len(due) == atOnce {
			continue
		}
		asked, _, err := r.Graphs.Marks().Get(mark(info.Timestep))
		if err != nil {
			return nil, err
		}
		if string(asked) != string(revision(info)) {
			due = append(due, info)
		}
	}
	return due, nil
}

func mark(t lethe.Timestep) []byte { return fmt.Appendf(nil, "retention/%d", t) }

// revision is the latest one caused by records, not by erasures.
func revision(info snapshot.Info) []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(info.Reopened))
}

func (r Retention) keeps(kept deletions.Kept, id lethe.TransactionID) (bool, error) {
	if kept.Targets[r.Secret.Suppression(id)] || len(kept.Subjects) == 0 {
		return kept.Targets[r.Secret.Suppression(id)], nil
	}
	of, err := r.Graphs.Marks().Subjects().Of(lethe.Transactions(id)[0])
	return slices.ContainsFunc(of, func(subject lethe.Digest) bool { return kept.Subjects[subject] }), err
}

func (r Retention) ask(ctx context.Context, info snapshot.Info, kept deletions.Kept) error {
	content, err := r.Graphs.Load(info.Timestep)
	if err != nil {
		return err
	}
	var free, held []lethe.TransactionID
	for _, n := range content.Snapshot.Nodes {
		keeps, err := r.keeps(kept, n.ID)
		if err != nil {
			return err
		}
		if keeps {
			held = append(held, n.ID)
		} else {
			free = append(free, n.ID)
		}
	}
	var records []ingest.Outgoing
	for _, ids := range [][]lethe.TransactionID{free, held} {
		for part := range slices.Chunk(ids, r.Most) {
			request, err := r.request(fmt.Sprintf("retention-%d-%d-%d", info.Timestep, info.Reopened, len(records)), part)
			if err != nil {
				return err
			}
			asked, err := ingest.OwnErasure(r.Secret, request)
			if err != nil {
				return err
			}
			records = append(records, asked)
		}
	}
	if len(records) > 0 {
		if err := r.Out.Write(ctx, bus.Erasures, records); err != nil {
			return err
		}
	}
	return r.Graphs.Marks().Put(mark(info.Timestep), revision(info))
}

// request is for some transactions, under a name that no other or cancelled request has: after a restore the ledger
// is ahead of the graphs, whose revisions come again.
func (r Retention) request(name string, ids []lethe.TransactionID) (lethe.ErasureRequest, error) {
	var hashes []lethe.Digest
	for _, id := range ids {
		hashes = append(hashes, r.Secret.Suppression(id))
	}
	slices.SortFunc(hashes, record.CompareDigests)
	asked := lethe.ErasureRequest{Scope: r.Scope, Targets: lethe.Transactions(ids...), Reason: Reason}
	for times := 0; ; times++ {
		if asked.RequestID = name; times > 0 {
			asked.RequestID = fmt.Sprint(name, "-", times)
		}
		if deletions.NamesTarget(asked) {
			hash := r.Secret.Ledger().Hash("retention-request", []byte(asked.RequestID))
			asked.RequestID = strings.Map(letter, hex.EncodeToString(hash[:16]))
		}
		before, err := r.Ledger.Get(asked.RequestID)
		switch {
		case errors.Is(err, deletions.ErrUnknownRequest):
			return asked, nil
		case err != nil:
			return asked, err
		case before.State != deletions.Cancelled && slices.Equal(before.Targets, hashes):
			return asked, nil
		}
	}
}

func letter(c rune) rune {
	if '0' <= c && c <= '9' {
		return 'a' + c - '0'
	}
	return c
}
