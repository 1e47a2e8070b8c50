package backup

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe/configs"
	"lethe/deletions/backups"
	"lethe/deletions/disk"
	"lethe/internal/atomicfile"
	"lethe/internal/swapstore"
	"lethe/service"
)

// Create configures a backup.
type Create struct {
	// Config is the configuration that the data directory was written with.
	Config configs.Config
	// To is the path of the new file, which must not exist.
	To string
	// Keep is how long the file may be stored.
	Keep    time.Duration
	Version string
	// Random is the source of the backup's id.
	Random io.Reader
	Now    time.Time
}

// Run backs up a stopped data directory. The backup is registered in the ledger's directory before
// it is written: receipts may name a backup that does not exist, but must not omit one.
func (c Create) Run() (m Manifest, err error) {
	if c.Keep < time.Hour {
		return m, fmt.Errorf("keep: %v is less than an hour", c.Keep)
	}
	if _, err := os.Stat(c.To); !errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s is there already: name a new file", c.To)
	}
	dir := c.Config.DataDir
	if err := service.CheckFinished(dir); err != nil {
		return m, err
	}
	secret, err := configs.KeysOf(c.Config).Secret(context.Background())
	if err != nil {
		return m, err
	}
	key, err := configs.KeysOf(c.Config).SigningKey(context.Background())
	if err != nil {
		return m, err
	}
	entry, err := c.entry()
	if err != nil {
		return m, err
	}
	m = Manifest{
		Format: format, ID: entry.ID, CreatedAt: entry.CreatedAt, ExpiresAt: entry.ExpiresAt,
		Deployment: secret.Deployment(c.Config.Kafka.TopicPrefix), Version: c.Version,
		Whole: c.Config.UsesEmbeddedBroker(),
	}
	if m.Ledger, err = filepath.Abs(dir); err != nil {
		return m, err
	}
	// Locked for a moment before, so that a directory in use is named as one and nothing is registered.
	held, err := Lock(dir)
	if err != nil {
		return m, err
	}
	if m.Whole {
		if err := errors.Join(held.Close(), register(c.Config, entry)); err != nil {
			return m, err
		}
		if held, err = Lock(dir); err != nil {
			return m, err
		}
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	paths, err := contents(dir, m.Whole)
	if err != nil {
		return m, err
	}
	err = atomicfile.WriteFrom(c.To, 0o600, func(out io.Writer) error {
		m, err = write(out, m, dir, paths, key)
		return err
	})
	return m, err
}

func (c Create) entry() (backups.Backup, error) {
	var random [8]byte
	if _, err := io.ReadFull(c.Random, random[:]); err != nil {
		return backups.Backup{}, fmt.Errorf("backup id: %w", err)
	}
	return backups.New("backup-"+hex.EncodeToString(random[:]), c.Now, c.Keep), nil
}

// withLedger opens the ledger of a stopped data directory.
func withLedger(c configs.Config, fn func(store *swapstore.Store) error) error {
	dir := service.RoleDir(c.DataDir, configs.RoleBuild)
	if _, err := os.Stat(filepath.Join(dir, "ledger")); err != nil {
		return fmt.Errorf("the ledger: %w (it is in the data directory of the process that plays %s)", err,
			configs.RoleErasure)
	}
	_, store, err := disk.OpenLedger(service.RemediedFS(vfs.Default, c.DataDir, configs.RoleGraphs), dir, nil)
	if err != nil {
		return err
	}
	return errors.Join(fn(store), store.Close())
}

func register(c configs.Config, b backups.Backup) error {
	return withLedger(c, func(store *swapstore.Store) error { return backups.In(disk.KV(store)).Put(b) })
}

// List returns the registered backups of a stopped data directory.
func List(c configs.Config) (list []backups.Backup, err error) {
	err = withLedger(c, func(store *swapstore.Store) error {
		list, err = backups.In(disk.KV(store)).List()
		return err
	})
	return list, err
}

// Forget records that a backup was destroyed. Errors: backups.ErrUnknown.
func Forget(c configs.Config, id string, at time.Time) (b backups.Backup, err error) {
	err = withLedger(c, func(store *swapstore.Store) error {
		b, err = backups.In(disk.KV(store)).Forget(id, at)
		return err
	})
	return b, err
}
