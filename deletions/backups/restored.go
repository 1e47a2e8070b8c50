package backups

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/deletions/internal/record"
	"lethe/deletions/ledgercopy"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/normalise"
)

const (
	restoredFormat = "lethe-restored/1"
	restoredKey    = "restored/note"
)

// Restored records beside the ledger that a backup was restored. It stays there.
type Restored struct {
	Format string `json:"format"`
	// ID is the backup's, At the time of the restore, as one may be restored twice.
	ID string    `json:"backup_id"`
	At time.Time `json:"restored_at"`
	// UnderWay are open requests whose progress is not in the backup.
	UnderWay []string `json:"under_way,omitempty"`
	// Unlearnt are requests that the backup has between rewriting and swap and that do not continue: models may not
	// have learnt their changes.
	Unlearnt []string `json:"unlearnt,omitempty"`
	// Asked means that erased targets in the backup were requested again, by Requests.
	Asked    bool     `json:"asked,omitempty"`
	Requests []string `json:"requests,omitempty"`
}

// Note stores in the newest ledger, once moved to the restored directory, that a backup was restored. before are the
// requests of the backup's ledger.
func Note(kv deletions.KV, newest *deletions.Ledger, id string, at time.Time, before []deletions.Entry) error {
	open, err := newest.Open()
	if err != nil {
		return err
	}
	on := make(map[string]bool)
	r := Restored{Format: restoredFormat, ID: id, At: record.Time(at)}
	for _, e := range open {
		at := slices.IndexFunc(before, func(b deletions.Entry) bool {
			return b.RequestID == e.RequestID && b.Digest == e.Digest && len(b.History) == len(e.History)
		})
		if at < 0 {
			r.UnderWay = append(r.UnderWay, e.RequestID)
		} else if err := goOnFrom(newest, before[at].Progress, e.RequestID); err != nil {
			return err
		} else {
			on[e.RequestID] = true
		}
	}
	for _, b := range before {
		stage := b.Stage()
		if !on[b.RequestID] && (stage == deletions.Rewriting || stage == deletions.Retraining) {
			r.Unlearnt = append(r.Unlearnt, b.RequestID)
		}
	}
	return r.put(kv)
}

// UnlearntFor are those of Unlearnt that concern a request: only one made at the restore.
func (r Restored) UnlearntFor(requestID string) []string {
	if !strings.HasPrefix(requestID, r.Prefix()) {
		return nil
	}
	return r.Unlearnt
}

// goOnFrom makes a continuing request repeat its steps since the backup.
func goOnFrom(newest *deletions.Ledger, before deletions.Progress, id string) error {
	_, err := newest.UpdateAll([]string{id}, func(_ int, p *deletions.Progress) {
		p.Revisions, p.Withdrawn = before.Revisions, before.Withdrawn
	})
	return err
}

func (r Restored) put(kv deletions.KV) error {
	value, err := record.Encode(r)
	if err == nil {
		err = kv.Put(deletions.Row{Key: []byte(restoredKey), Value: value})
	}
	if err != nil {
		return fmt.Errorf("note that a backup was put back: %w", err)
	}
	return nil
}

// Last returns the latest restore, if any.
func Last(kv deletions.KV) (r Restored, found bool, err error) {
	err = kv.Scan([]byte(restoredKey), func(_, value []byte) error {
		found = true
		return record.Decode(value, &r, restoredFormat)
	})
	if err != nil {
		return r, false, fmt.Errorf("note that a backup was put back: %w", err)
	}
	return r, found, nil
}

// Bus is the part of the topics that finishing a restore needs.
type Bus interface {
	// ReadEvery includes aborted and open transactions, and skips unreadable batches.
	ReadEvery(ctx context.Context, t bus.Topic, fn func(ingest.Record) error, around func(*bus.Gap)) error
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
	Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error
}

// Log is the transparency log.
type Log interface {
	Rewind() error
	Append(leaves ...translog.Leaf) error
}

// Deployment is the target of a restore, before anything has consumed records.
type Deployment struct {
	Secret lethe.Secret
	KV     deletions.KV
	Ledger *deletions.Ledger
	Log    Log
	Bus    Bus
	Rule   normalise.Rule
	// Names calls take for every transaction of the graphs.
	Names func(take func(lethe.TransactionID)) error
	// Publish publishes changes of erasures that may not be published.
	Publish func() error
}

// Resume finishes a restore once, before any record is consumed: open requests end, and everything erased that the
// backup holds is requested again. Call it at every start. It is idempotent.
func Resume(ctx context.Context, d Deployment) error {
	if err := d.logBackups(); err != nil {
		return err
	}
	r, found, err := Last(d.KV)
	if err != nil || !found || r.Asked {
		return err
	}
	restored := translog.Operator{Action: translog.ActionRestore, At: r.At, Detail: sha256.Sum256([]byte(r.ID))}
	if err := d.Log.Append(restored); err != nil {
		return err
	}
	if err := d.Log.Rewind(); err != nil {
		return err
	}
	if err := d.endUnderWay(ctx, r.UnderWay); err != nil {
		return fmt.Errorf("requests that were under way: %w", err)
	}
	// The request may have ended, and the one that repeats it finds nothing left to rewrite.
	if err := d.Publish(); err != nil {
		return fmt.Errorf("what was rewritten and not published: %w", err)
	}
	requests, err := d.again(ctx, r)
	if err != nil {
		return fmt.Errorf("what the backup holds of erased records: %w", err)
	}
	var records []ingest.Outgoing
	for _, request := range requests {
		r.Requests = append(r.Requests, request.RequestID)
		record, err := ingest.OwnErasure(d.Secret, request)
		if err != nil {
			return err
		}
		records = append(records, record)
	}
	if len(records) > 0 {
		if err := d.Bus.Write(ctx, bus.Erasures, records); err != nil {
			return err
		}
	}
	r.Asked = true
	return r.put(d.KV)
}

// logBackups adds backups, and forgotten ones, to the transparency log, before any receipt.
func (d Deployment) logBackups() error {
	list, err := In(d.KV).List()
	if err != nil {
		return err
	}
	var leaves []translog.Leaf
	for _, b := range list {
		leaves = append(leaves, translog.Operator{
			Action: translog.ActionBackup, At: b.CreatedAt, Detail: sha256.Sum256([]byte(b.ID)),
		})
		if !b.ForgottenAt.IsZero() {
			leaves = append(leaves, translog.Operator{
				Action: translog.ActionForgetBackup, At: b.ForgottenAt, Detail: sha256.Sum256([]byte(b.ID)),
			})
		}
	}
	return d.Log.Append(leaves...)
}

// endUnderWay ends requests: those that suppressed something are rejected and stay suppressed, others are cancelled.
func (d Deployment) endUnderWay(ctx context.Context, ids []string) error {
	for _, id := range ids {
		e, err := d.Ledger.Get(id)
		if err != nil {
			return err
		}
		ended := []deletions.Entry{e}
		switch {
		case e.State.Final():
		case e.Suppresses():
			ended, err = d.Ledger.StopAll([]string{id}, deletions.Rejected, deletions.RejectedRestored)
		default:
			ended, err = d.Ledger.TransitionAll([]string{id}, deletions.Cancelled, func(_ int, e *deletions.Entry) {
				batch.MarkHeld(e, nil)
			})
		}
		if err != nil {
			return err
		}
		if err := d.announce(ctx, ended[0]); err != nil {
			return err
		}
	}
	return nil
}

// announce publishes a request's status and entry, and deletes its record.
func (d Deployment) announce(ctx context.Context, e deletions.Entry) error {
	copied, err := ledgercopy.Records(e)
	if err == nil {
		err = d.Bus.Write(ctx, bus.Control, copied)
	}
	if err != nil {
		return err
	}
	status := e.Status()
	value, err := status.Encode()
	if err != nil {
		return err
	}
	records := []ingest.Outgoing{{Key: []byte(status.Key()), Value: value}}
	if err := d.Bus.Write(ctx, bus.ErasureStatus, records); err != nil {
		return err
	}
	return d.Bus.Write(ctx, bus.Erasures, []ingest.Outgoing{{Key: []byte(e.RequestID)}})
}
