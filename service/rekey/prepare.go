package rekey

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/configs"
	"lethe/deletions/disk"
	"lethe/deletions/translog"
	"lethe/internal/atomicfile"
	"lethe/pipeline/score"
	"lethe/pipeline/wire"
	"lethe/service"
	"lethe/service/backup"
)

// prepare creates the part of the new directory that lethe run does not rebuild.
func (r Rotate) prepare(ctx context.Context, p Plan) (fresh lethe.Secret, err error) {
	if fresh, err = r.keys(ctx, p); err != nil {
		return fresh, err
	}
	if err := score.CarrySuppressed(vfs.Default, service.RoleDir(p.DataDir, configs.RoleScore),
		service.RoleDir(p.New, configs.RoleScore)); err != nil {
		return fresh, err
	}
	held, err := backup.Lock(p.DataDir)
	if err != nil {
		return fresh, err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	for _, part := range copied() {
		if err := r.stage(ctx, "copying %s", filepath.ToSlash(part)); err != nil {
			return fresh, err
		}
		err := backup.CopyFolder(filepath.Join(p.DataDir, part), filepath.Join(p.New, part))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fresh, err
		}
	}
	return fresh, r.logged(ctx, p, wire.SecretCheck(fresh))
}

// copied are the directories that cannot be rebuilt. The last two contain pending deliveries: positions in topics
// that are retained, and ids of requests.
func copied() []string {
	return []string{
		filepath.Join(configs.RoleBuild, "ledger"), "receipts", "broker",
		filepath.Dir(service.WebhooksPath("")), filepath.Dir(service.OpenDSRPath("")),
	}
}

// keys copies the keys and creates a new secret next to that of the ledger.
func (r Rotate) keys(ctx context.Context, p Plan) (fresh lethe.Secret, err error) {
	from, to := r.Config.SigningKeyPath(), r.newConfig().SigningKeyPath()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fresh, err
	}
	for path, mode := range map[string]fs.FileMode{from: 0o600, configs.PublicKeyPath(from): 0o644} {
		content, err := os.ReadFile(path)
		if err == nil {
			err = atomicfile.Create(filepath.Join(filepath.Dir(to), filepath.Base(path)), content, mode)
		}
		if err != nil {
			return fresh, fmt.Errorf("signing key: %w", err)
		}
	}
	var key [lethe.SecretKeyBytes]byte
	if _, err := io.ReadFull(r.Random, key[:]); err != nil {
		return fresh, fmt.Errorf("random source: %w", err)
	}
	fresh = p.secret.Follow(key)
	store, err := configs.KeysOf(r.Config).Store()
	if err != nil {
		return fresh, err
	}
	return fresh, store.WriteRotatedSecret(ctx, r.newConfig().SecretPath(), fresh)
}

// logged appends the change of the secret to the transparency log, and makes the next start read the commitments to
// slices and models again.
func (r Rotate) logged(ctx context.Context, p Plan, after string) (err error) {
	key, err := configs.KeysOf(r.newConfig()).SigningKey(ctx)
	if err != nil {
		return err
	}
	signer, err := translog.NewSigner(translog.Name(p.secret.Deployment(r.Config.Kafka.TopicPrefix).String()),
		key)
	if err != nil {
		return err
	}
	_, store, err := disk.OpenLedger(vfs.Default, service.RoleDir(p.New, configs.RoleBuild), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	log := translog.NewLog(disk.KV(store), signer)
	if err := log.Append(translog.RotateSecret(p.Secret, after, r.Now())); err != nil {
		return err
	}
	return log.Rewind()
}
