package worlds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe/deletions"
	"lethe/deletions/backups"
	ledgerdisk "lethe/deletions/disk"
)

// image is a copy of all that a deployment would leave if it was stopped now.
func (d *deployment) image() *deployment {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	time.Sleep(5 * time.Millisecond) // as in disk.copied
	files := d.disk.memory.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	return d.successor(diskOf(files))
}

// putBack puts the backup back under the newest ledger and log, and sends what was sent
// since it was made once more, but for requests that the ledger knows.
func (s *simulation) putBack(ctx context.Context, at int) error {
	if err := s.current.stop(); err != nil {
		return err
	}
	if s.successor != nil {
		// Killed while it was stopped: what it leaves is the newest.
		s.current, s.successor = s.successor, nil
		s.killed++
	}
	newest, next := s.current.image(), s.backup
	known, err := next.takeLedger(newest)
	if err != nil {
		return fmt.Errorf("put back: %w", err)
	}
	// The newest receipts are a later state of those of the backup.
	next.receipts = newest.receipts
	next.clock.now = newest.clock.now
	maps.Copy(next.topics.log.absent, newest.topics.log.absent)
	// Brokers know who trains, not the backup.
	next.crew, next.groups, next.runs = newest.crew, newest.groups, newest.runs
	next.disk.writes = s.current.disk.counted()
	next.disk.trace = append(slices.Clone(s.current.disk.trace), "put back")
	s.current = next
	s.planCrashes(next, s.world.crashes[s.killed:])
	if err := next.start(ctx); err != nil {
		return err
	}
	for _, e := range s.world.events[s.made+1 : at] {
		if e.operation != nil || e.request != nil && known[e.request.RequestID] {
			continue
		}
		if err := s.apply(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// takeLedger puts the ledger of another deployment in the place of the own, as lethe backup
// restore does, and returns the requests that it knows.
func (d *deployment) takeLedger(newest *deployment) (known map[string]bool, err error) {
	files := d.disk.memory
	var before, entries []deletions.Entry
	at := d.clock.Now
	ledger, store, err := ledgerdisk.OpenLedger(files, "/build", at)
	if err == nil {
		before, err = ledger.List()
		err = errors.Join(err, store.Close(), files.RemoveAll("/build/ledger"))
	}
	if err != nil {
		return nil, err
	}
	if _, err := vfs.Clone(newest.disk.memory, files, "/build/ledger", "/build/ledger", vfs.CloneSync); err != nil {
		return nil, err
	}
	if ledger, store, err = ledgerdisk.OpenLedger(files, "/build", newest.clock.Now); err != nil {
		return nil, err
	}
	if entries, err = ledger.List(); err == nil {
		err = backups.Note(ledgerdisk.KV(store), ledger, "backup-1", newest.clock.now, before)
	}
	known = make(map[string]bool)
	for _, e := range entries {
		known[e.RequestID] = true
	}
	return known, errors.Join(err, store.Close(), syncFolders(files, "/"))
}

// syncFolders makes durable what folders there are, and their files.
func syncFolders(files vfs.FS, dir string) error {
	names, err := files.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := files.PathJoin(dir, name)
		info, err := files.Stat(path)
		if err == nil && info.IsDir() {
			err = syncFolders(files, path)
		} else if err == nil {
			err = syncOne(files.Open(path))
		}
		if err != nil {
			return err
		}
	}
	return syncOne(files.OpenDir(dir))
}

func syncOne(f vfs.File, err error) error {
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// successor is a deployment of the same settings on what another one leaves on disk.
func (d *deployment) successor(left *disk) *deployment {
	next := &deployment{
		t: d.t, disk: left, receipts: d.t.TempDir(), clock: &clock{now: d.clock.now}, patience: d.patience,
		window: d.window, oneHop: d.oneHop, independent: d.independent,
		models: d.models, config: d.config, taken: maps.Clone(d.taken), crew: d.crew.clone(),
		runs: maps.Clone(d.runs),
	}
	for _, g := range d.groups {
		next.groups = append(next.groups, g.clone())
	}
	next.topics = topics{d.topics.Clone(), next.disk, d.topics.log.clone()}
	if err := os.CopyFS(next.receipts, os.DirFS(d.receipts)); err != nil {
		panic(err)
	}
	return next
}
