package backup

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/backups"
	"lethe/deletions/disk"
	"lethe/deletions/translog"
	"lethe/internal/swapstore"
	"lethe/service"
)

// Restore says what is put back where.
type Restore struct {
	// Config is the one that the backup was made with, but for the data directory, which is
	// new.
	Config configs.Config
	From   string
	// Ledger is where the newest ledger is: a stopped data directory, or a later backup.
	// Empty, what was erased after the backup is not known: WithoutLedger says that this is
	// meant.
	Ledger        string
	WithoutLedger bool
	// One of Keys must have signed the backup. None stands for those of the newest ledger, or
	// without that for the one in the backup, which then says nothing of who made it.
	Keys []ed25519.PublicKey
	Now  time.Time
}

// Run puts a backup back, but for what was erased since, for which Finish is to be called:
// until then no service starts on the folder. What is refused is ErrRefused, and nothing was
// written then.
func (r Restore) Run() (m Manifest, err error) {
	dir := r.Config.DataDir
	if err := isEmpty(dir); err != nil {
		return m, err
	}
	o, newest, err := r.check()
	if err != nil {
		return m, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return m, err
	}
	defer func() {
		if err != nil {
			// The folder was new.
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	marker := filepath.Join(dir, service.RestoringName)
	if err := os.WriteFile(marker, []byte(o.ID+"\n"), 0o600); err != nil {
		return m, err
	}
	if err := o.unpack(dir, func(string) bool { return true }); err != nil {
		return m, err
	}
	if newest != nil {
		if err := r.goOn(o, newest); err != nil {
			return m, err
		}
	}
	return o.Manifest, SyncFolders(dir)
}

// check reads the backup, and the newest ledger unless there is none.
func (r Restore) check() (*opened, source, error) {
	newest, err := sourceOf(r.Config, r.Ledger, r.Keys)
	if err != nil {
		return nil, nil, err
	}
	keys := r.Keys
	if len(keys) == 0 && newest != nil {
		if keys, err = newest.signers(); err != nil {
			return nil, nil, err
		}
	}
	o, err := open(r.From, keysOr(keys, r.Config))
	if err != nil {
		return nil, nil, err
	}
	if !o.Whole && newest != nil {
		return nil, nil, refuse(r.From, "it was made with brokers of others: the ledger's newest copy is in their topics "+
			"(leave --ledger out)")
	}
	if !o.Whole {
		return o, nil, nil
	}
	switch {
	case newest == nil && !r.WithoutLedger:
		return nil, nil, fmt.Errorf("%w: %s: what was erased after %s is not known without the ledger: name the data "+
			"directory where it goes on, or a later backup, with --ledger (it was %s); or say --without-ledger",
			ErrRefused, r.From, o.CreatedAt.Format(time.RFC3339), o.Ledger)
	case newest != nil && newest.deployment() != o.Deployment:
		return nil, nil, refuse(r.From, "it is of deployment %s, the ledger in %s of %s: name the ledger of the same "+
			"deployment", o.Deployment, r.Ledger, newest.deployment())
	}
	return o, newest, nil
}

// goOn puts the newest ledger in the place of the backup's and notes that in it.
func (r Restore) goOn(o *opened, newest source) error {
	build := service.RoleDir(r.Config.DataDir, configs.RoleBuild)
	before, err := readLedger(build)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(build, "ledger")); err != nil {
		return err
	}
	keep, err := ownSecret(r.Config)
	if err != nil {
		return err
	}
	if err := errors.Join(newest.copyTo(r.Config.DataDir), keep()); err != nil {
		return err
	}
	after, err := readLedger(build)
	if err != nil {
		return err
	}
	for i, leaf := range before.leaves {
		if i >= len(after.leaves) || !bytes.Equal(leaf, after.leaves[i]) {
			return refuse(r.From, "the ledger in %s is older than it, or of another history: leaf %d of its log is another "+
				"(name the newest with --ledger)", r.Ledger, i)
		}
	}
	origin, _, _ := strings.Cut(after.checkpoint, "\n")
	if want := translog.Name(o.Deployment.String()); origin != "" && origin != want {
		return refuse(r.From, "the ledger in %s is of log %q, it is of %q: name the ledger of the same deployment", r.Ledger,
			origin, want)
	}
	ledger, store, err := disk.OpenLedger(vfs.Default, build, func() time.Time { return r.Now })
	if err != nil {
		return err
	}
	return errors.Join(backups.Note(disk.KV(store), ledger, o.ID, r.Now, before.entries), store.Close())
}

// ledgerContent is what a ledger and its log hold.
type ledgerContent struct {
	entries []deletions.Entry
	leaves  [][]byte
	// checkpoint is the log's, empty for none; its first line names the log.
	checkpoint string
}

func readLedger(build string) (c ledgerContent, err error) {
	ledger, store, err := disk.OpenLedger(vfs.Default, build, nil)
	if err != nil {
		return c, err
	}
	defer func(s *swapstore.Store) { err = errors.Join(err, s.Close()) }(store)
	if c.entries, err = ledger.List(); err != nil {
		return c, err
	}
	log, err := translog.ReadStored(disk.KV(store))
	c.leaves, c.checkpoint = log.Leaves, log.Checkpoint
	return c, err
}

// isLedger reports whether a file is one of those that go on: ledger, log, receipts, and the
// keys, of which the signing key may have been rotated.
func isLedger(path string) bool {
	return strings.HasPrefix(path, ledgerFolder) || strings.HasPrefix(path, "receipts/") ||
		strings.HasPrefix(path, keysFolder)
}
