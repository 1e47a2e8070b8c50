package rekey

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"lethe/configs"
	"lethe/service"
	"lethe/service/backup"
)

// Rotate configures a rotation.
type Rotate struct {
	// Config is the configuration that the data directory was written with. DataDir is absolute.
	Config  configs.Config
	Version string
	// Random is the source of the new secret.
	Random io.Reader
	Now    func() time.Time
	Logger *slog.Logger
	// Progress is called with progress messages.
	Progress func(format string, args ...any)
}

// Result is the result of a rotation. The JSON names are part of the command line.
type Result struct {
	Plan
	// NewSecret identifies the new secret.
	NewSecret string `json:"new_secret"`
	// Ensemble is the version that is served now, empty if none is.
	Ensemble string `json:"ensemble_hash"`
}

func (r Rotate) newDir() string  { return service.RotatingDir(r.Config.DataDir) }
func (r Rotate) keptDir() string { return r.Config.DataDir + ".before-rotation" }

func (r Rotate) newConfig() configs.Config {
	c := r.Config
	c.DataDir = r.newDir()
	return c
}

// Plan describes the rotation without changing anything. Errors: ErrRefused.
func (r Rotate) Plan(ctx context.Context) (Plan, error) { return r.plan(ctx) }

// Run rotates the secret of a stopped data directory. The next call resumes an interrupted rotation;
// until the swap the original directory is unchanged. Errors: ErrRefused.
func (r Rotate) Run(ctx context.Context) (out Result, err error) {
	swapped, out, err := r.finishSwap()
	if err != nil || swapped {
		return out, err
	}
	if out.Plan, err = r.plan(ctx); err != nil {
		return out, err
	}
	p := out.Plan
	n, err := r.resume(p)
	if err != nil {
		return out, err
	}
	if n.Phase == preparing {
		if n, err = r.prepare(ctx, p); err != nil {
			return out, err
		}
		fresh, err := configs.KeysOf(r.newConfig()).Secret(ctx)
		if err != nil {
			return out, err
		}
		if err := r.stage(ctx, "removing what was said under the secret before"); err != nil {
			return out, err
		}
		if err := r.cleanTopics(ctx, p, fresh); err != nil {
			return out, err
		}
		n.Phase = building
		if err := errors.Join(backup.SyncFolders(p.New), n.write(p.New)); err != nil {
			return out, err
		}
	}
	held, err := backup.Lock(p.DataDir)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	if err := r.stage(ctx, "making graphs, slices and models anew in %s", p.New); err != nil {
		return out, err
	}
	now, err := r.build(ctx, p)
	if err != nil {
		return out, err
	}
	n.Phase = built
	if err := n.write(p.New); err != nil {
		return out, err
	}
	if err := r.stage(ctx, "swapping the directories"); err != nil {
		return out, err
	}
	out.NewSecret, out.Ensemble = n.After, now.EnsembleHash
	return out, r.swap()
}

// stage reports a stage, which does not start if the context has ended.
func (r Rotate) stage(ctx context.Context, format string, args ...any) error {
	r.Progress(format, args...)
	return ctx.Err()
}

// resume returns the progress of an interrupted rotation. It starts over if the directory was used
// since.
func (r Rotate) resume(p Plan) (note, error) {
	n, found, err := readNote(p.New)
	if err != nil || !found || n.Phase == preparing {
		return note{Phase: preparing}, err
	}
	log, err := logDigest(p.DataDir)
	if err != nil {
		return n, err
	}
	if log != n.Log {
		r.Progress("%s was used since: it is made anew from the beginning", p.DataDir)
		return note{Phase: preparing}, nil
	}
	return n, nil
}

// swap replaces the original directory by the new one, and keeps the original.
func (r Rotate) swap() error {
	dir := r.Config.DataDir
	if err := os.Rename(dir, r.keptDir()); err != nil {
		return err
	}
	_, _, err := r.finishSwap()
	return err
}

// finishSwap completes an interrupted swap, and reports whether there was one.
func (r Rotate) finishSwap() (done bool, out Result, err error) {
	dir := r.Config.DataDir
	// An empty directory may have been created before lethe starts, for example by systemd.
	if inIt, err := os.ReadDir(dir); errors.Is(err, os.ErrNotExist) || err == nil && len(inIt) == 0 {
		n, found, err := readNote(r.newDir())
		if err != nil || !found || n.Phase != built || n.From != dir {
			return false, out, err
		}
		if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, out, err
		}
		if err := os.Rename(r.newDir(), dir); err != nil {
			return false, out, err
		}
	}
	n, found, err := readNote(dir)
	if err != nil || !found {
		return false, out, err
	}
	if n.Phase != built || n.From != dir {
		return false, out, refuse("%s is a directory that is being made anew: name the one before, %s", dir, n.From)
	}
	out = Result{Plan: Plan{DataDir: dir, New: r.newDir(), Kept: r.keptDir(), Secret: n.Before}, NewSecret: n.After}
	if err := os.Remove(notePath(dir)); err != nil {
		return false, out, fmt.Errorf("note of the rotation: %w", err)
	}
	return true, out, backup.SyncFolders(dir)
}
