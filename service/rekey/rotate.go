package rekey

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"lethe/configs"
	"lethe/pipeline/wire"
	"lethe/service"
	"lethe/service/backup"
)

// Rotate describes a rotation: the old directory and the new one.
type Rotate struct {
	// Config is the one under which the data directory was written. DataDir is absolute.
	Config configs.Config
	// To is the new directory, absolute. It must not exist.
	To string
	// Random makes the new secret.
	Random io.Reader
	Now    func() time.Time
	Logger *slog.Logger
	// Progress is called with progress messages.
	Progress func(format string, args ...any)
}

// Result is the result of a rotation. The JSON names are part of the command line.
type Result struct {
	Plan
	// NewSecret identifies the secret of the new directory.
	NewSecret string `json:"new_secret"`
}

func (r Rotate) newConfig() configs.Config {
	c := r.Config
	c.DataDir = r.To
	return c
}

// Run creates the new directory from a stopped one, which stays unchanged. On an error the new one is removed; lethe
// run refuses one that a crash has left incomplete. Errors: ErrRefused.
func (r Rotate) Run(ctx context.Context) (out Result, err error) {
	if out.Plan, err = r.Plan(ctx); err != nil {
		return out, err
	}
	if err := os.Mkdir(r.To, 0o700); err != nil {
		return out, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(r.To))
		}
	}()
	marker := filepath.Join(r.To, service.RestoringName)
	if err := os.WriteFile(marker, []byte(out.Secret+"\n"), 0o600); err != nil {
		return out, err
	}
	fresh, err := r.prepare(ctx, out.Plan)
	if err != nil {
		return out, err
	}
	if err := r.stage(ctx, "removing records made under the previous secret"); err != nil {
		return out, err
	}
	if err := r.cleanTopics(ctx, out.Plan, fresh); err != nil {
		return out, err
	}
	out.NewSecret = wire.SecretCheck(fresh)
	return out, errors.Join(backup.SyncFolders(r.To), os.Remove(marker))
}

// stage reports a stage, which does not start if the context has ended.
func (r Rotate) stage(ctx context.Context, format string, args ...any) error {
	r.Progress(format, args...)
	return ctx.Err()
}
