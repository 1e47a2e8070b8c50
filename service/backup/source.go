package backup

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lethe"
	"lethe/configs"
	"lethe/service"
)

// source is the location of the newest ledger.
type source interface {
	deployment() lethe.DeploymentID
	// signers returns the keys that sign or have signed the deployment's backups.
	signers() ([]ed25519.PublicKey, error)
	// copyTo copies ledger, log and receipts to a data directory.
	copyTo(dir string) error
}

// sourceOf opens a directory or a backup as the source of the newest ledger, nil for an empty path.
func sourceOf(c configs.Config, path string, keys []ed25519.PublicKey) (source, error) {
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the newest ledger: %w (name a data directory or a backup with --ledger)", err)
	}
	if info.IsDir() {
		c.DataDir = path
		s := folder{config: c}
		if _, err := os.Stat(filepath.Join(service.RoleDir(path, configs.RoleBuild), "ledger")); err != nil {
			return nil, fmt.Errorf("%w: %s: no ledger is in it: name the data directory of the process that plays %s",
				ErrRefused, path, configs.RoleErasure)
		}
		secret, err := configs.KeysOf(c).Secret(context.Background())
		s.id = secret.Deployment(c.Kafka.TopicPrefix)
		return s, err
	}
	o, err := open(path, keysOr(keys, c))
	if err != nil {
		return nil, err
	}
	if !o.Whole {
		return nil, refuse(path, "no ledger is in it: name a data directory or another backup with --ledger")
	}
	return later{o, c}, nil
}

// folder is a stopped data directory.
type folder struct {
	config configs.Config
	id     lethe.DeploymentID
}

func (f folder) deployment() lethe.DeploymentID { return f.id }

func (f folder) copyTo(dir string) (err error) {
	held, err := Lock(service.RoleDir(f.config.DataDir, configs.RoleBuild))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	for _, part := range []string{filepath.Join(configs.RoleBuild, "ledger"), "receipts", keysFolder} {
		err := CopyFolder(filepath.Join(f.config.DataDir, part), filepath.Join(dir, part))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// later is a later backup.
type later struct {
	*opened
	config configs.Config
}

func (l later) deployment() lethe.DeploymentID { return l.Deployment }

func (l later) copyTo(dir string) error {
	for _, part := range []string{service.ReceiptsDir(dir), filepath.Join(dir, keysFolder)} {
		if err := os.RemoveAll(part); err != nil {
			return err
		}
	}
	return l.unpack(dir, isLedger)
}
