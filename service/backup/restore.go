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

// Restore configures a restoration.
type Restore struct {
	// Config is the configuration that the backup was made with, except for the data directory,
	// which must be new.
	Config configs.Config
	From   string
	// Ledger is the location of the newest ledger: a stopped data directory, or a later backup. If
	// it is empty, erasures after the backup are unknown: WithoutLedger confirms that this is
	// intended.
	Ledger        string
	WithoutLedger bool
	// One of Keys must have signed the backup. If empty, the keys of the newest ledger are used,
	// or without that the key in the backup, which then does not prove its origin.
	Keys []ed25519.PublicKey
	Now  time.Time
}

// Run restores a backup without the data that was erased since. Finish must be called next: until
// then no service starts on the directory. The error is ErrRefused if the backup is rejected, and
// nothing was written then.
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
			// The directory was new.
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

// check reads the backup, and the newest ledger if there is one.
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

// goOn replaces the backup's ledger by the newest one and records the restoration in it.
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

// ledgerContent is the content of a ledger and its log.
type ledgerContent struct {
	entries []deletions.Entry
	leaves  [][]byte
	// checkpoint is the log's checkpoint, empty if there is none; its first line names the log.
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

// isLedger reports whether a file comes from the newest ledger: ledger, log, receipts, and the
// keys, because the signing key may have been rotated.
func isLedger(path string) bool {
	return strings.HasPrefix(path, ledgerFolder) || strings.HasPrefix(path, "receipts/") ||
		strings.HasPrefix(path, keysFolder)
}
