package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lethe/configs"
	"lethe/internal/kms"
	"lethe/pipeline/wire"
	"lethe/service"
)

const (
	// leastFree and leastShare are the free space that a disk should have: an erasure rewrites
	// stores before it deletes the old ones.
	leastFree  = 2 << 30
	leastShare = .05
)

// dataDir checks the data directory.
func (f *findings) dataDir(o Options) {
	const check = "data_dir"
	dir := o.Config.DataDir
	info, err := os.Stat(dir)
	unfinished := service.CheckFinished(dir)
	switch {
	case unfinished != nil:
		f.bad(check, unfinished.Error(), "finish that: lethe run refuses the folder until then")
	case errors.Is(err, fs.ErrNotExist):
		f.ok(check, dir+" is not there yet: the first start makes it")
	case err != nil:
		f.bad(check, err.Error(), "let the user that runs lethe reach it, or name another with --data-dir")
	case !info.IsDir():
		f.bad(check, dir+" is not a folder", "name another with --data-dir")
	case info.Mode().Perm()&0o077 != 0:
		f.warn(check, fmt.Sprintf("%s has mode %04o: others may read it", dir, info.Mode().Perm()),
			"chmod 700 "+dir)
	default:
		f.ok(check, dir+" is there, for its owner alone")
	}
}

// disk checks the free space.
func (f *findings) disk(o Options) {
	const check = "disk"
	room, err := o.Disk(nearest(o.Config.DataDir))
	if err != nil {
		f.warn(check, "the room on the disk is not known: "+err.Error(), "look at it by hand")
		return
	}
	message := sizeText(room.FreeBytes) + " of " + sizeText(room.TotalBytes) + " are free"
	least := max(leastFree, uint64(leastShare*float64(room.TotalBytes)))
	switch {
	case room.FreeBytes < leastFree/4:
		f.bad(check, message+", less than "+sizeText(leastFree/4),
			"make room: a store that is written anew stands beside the old one for a while")
	case room.FreeBytes < least:
		f.warn(check, message+", less than "+sizeText(least),
			"make room before the disk is full: lethe waits then, and nothing is scored")
	default:
		f.ok(check, message)
	}
}

// nearest returns the path, or its closest ancestor that exists.
func nearest(path string) string {
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

func sizeText(bytes uint64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

// keys checks the secret and the signing key, and whether the directory was created with them.
func (f *findings) keys(ctx context.Context, o Options) {
	const check = "keys"
	secretPath, keyPath := o.Config.SecretPath(), o.Config.SigningKeyPath()
	store, err := configs.KeysOf(o.Config).Store()
	if err != nil {
		f.bad(check, err.Error(), "put the settings under kms right")
		return
	}
	secret, secretErr := store.ReadSecret(ctx, secretPath)
	_, keyErr := store.ReadSigningKey(ctx, keyPath)
	begun := false
	if _, err := os.Stat(configs.InstancePath(o.Config.DataDir)); err == nil {
		begun = true
	}
	f.keyFile(secretPath, secretErr, begun)
	f.keyFile(keyPath, keyErr, begun)
	switch {
	case secretErr == nil && !f.fitsSecret(o, wire.SecretCheck(secret)):
	case secretErr == nil && keyErr == nil:
		f.ok(check, "secret and signing key are there, for their owner alone")
	case !begun && errors.Is(errors.Join(secretErr, keyErr), fs.ErrNotExist):
		f.ok(check, "missing keys are made at the first start")
	}
}

// keyFile reports a problem with a key file.
func (f *findings) keyFile(path string, err error, begun bool) {
	switch {
	case err == nil:
	case errors.Is(err, kms.ErrAway), errors.Is(err, kms.ErrRefused):
		f.bad("keys", err.Error(), "lethe run waits for one that is away; what it refuses has to be put right there")
	case !errors.Is(err, fs.ErrNotExist):
		f.bad("keys", err.Error(), "put the file right, or back from its copy")
	case begun:
		f.bad("keys", path+" is missing, and the data directory was begun with one",
			"put it back from its copy: another key cuts off what was made with it")
	}
}

// fitsSecret compares the secret with the one that the data directory was created with.
func (f *findings) fitsSecret(o Options, own string) bool {
	sealed, err := service.ReadSealed(o.Config.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	switch {
	case err != nil:
		f.bad("keys", err.Error(), service.SealedRemedy(o.Config))
	case sealed.SecretCheck != own:
		f.bad("keys", fmt.Sprintf("the secret is key %s, the data directory was begun with key %s", own, sealed.SecretCheck),
			"give lethe that secret with secret_file")
	default:
		return true
	}
	return false
}
