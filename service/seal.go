package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/atomicfile"
	"lethe/pipeline/wire"
)

// SealedPath is the file of a data directory that identifies the secret of the codes of internal topics.
func SealedPath(dataDir string) string { return filepath.Join(dataDir, "sealed") }

// SealedRemedy is the remedy for a damaged file of SealedPath. Without a rotation of the secret it says no more than a
// new one.
func SealedRemedy(c configs.Config) string {
	if _, err := os.Stat(configs.LedgerSecretPath(c.SecretPath())); errors.Is(err, fs.ErrNotExist) {
		return "remove it: the next start writes it again"
	}
	return "put it back from a copy of the data directory: it knows from where on records have codes of the rotated secret"
}

// begunBefore reports whether a data directory was in use before this process. An empty directory
// may be a disk that an operator has mounted for the first start.
func begunBefore(dataDir string) bool {
	if _, err := os.Stat(configs.InstancePath(dataDir)); err == nil {
		return true
	}
	for _, name := range []string{
		brokerFolder, configs.RoleBuild, configs.RoleTrain, configs.RoleScore, configs.RoleView,
	} {
		entries, _ := os.ReadDir(filepath.Join(dataDir, name))
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != "lost+found" }) {
			return true
		}
	}
	return false
}

// MakeDataDir makes a data directory that is not there yet.
func MakeDataDir(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if errors.Is(err, syscall.ENOTDIR) {
		err = errors.New("it, or what it is to be in, is a file")
	}
	if err != nil {
		err = fmt.Errorf("data directory %s cannot be made: %w (choose another with --data-dir)", dir, err)
	}
	return err
}

// othersMay are the permissions of a directory for other users.
const othersMay = 0o077

// closeToOthers removes the permissions of other users on the data directory, whose stores contain people's ids. If a
// volume belongs to another user, as under Kubernetes, the operator who mounts it must do that.
func closeToOthers(dir string, log *slog.Logger) {
	at, err := os.Stat(dir)
	if err != nil || at.Mode().Perm()&othersMay == 0 {
		return
	}
	if err := os.Chmod(dir, at.Mode()&^othersMay); err != nil {
		log.Warn("the data directory is open to other users of this machine: chmod 700 it", "data_dir", dir,
			"error", err)
		return
	}
	log.Warn("the data directory was open to other users of this machine, and is not any more", "data_dir", dir)
}

// keysAreThere rejects a data directory in use that lacks a key. Otherwise a new key would be
// created, and everything that was made with the first would be lost.
func keysAreThere(c configs.Config) error {
	for what, path := range map[string]string{"the secret": c.SecretPath(), "the signing key": c.SigningKeyPath()} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w %s: %s is missing, and the data directory was begun with one: put it back from a copy "+
				"(nobody can make it again; without it start over with an empty data directory and empty topics)",
				configs.ErrKeyFile, path, what)
		}
	}
	return nil
}

// sealing is a service that makes and checks the codes of records of internal topics.
type sealing struct{ *Service }

// begin installs the seal in the clients. The data directory records which secret it was created with.
func (s sealing) begin() error {
	sealed, err := s.read()
	if err != nil {
		return err
	}
	before, err := sealed.Before()
	if err != nil {
		return err
	}
	wire.SealOf(s.secret, before).On(s.client, s.patient)
	return WriteSealed(s.config.DataDir, sealed)
}

// ReadSealed reads the file of a data directory. The error is fs.ErrNotExist if there is none.
func ReadSealed(dataDir string) (sealed wire.Sealed, err error) {
	path := SealedPath(dataDir)
	value, err := os.ReadFile(path)
	if err != nil {
		return sealed, err
	}
	if sealed, err = wire.DecodeSealed(value); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return sealed, err
}

// WriteSealed writes the file of a data directory.
func WriteSealed(dataDir string, sealed wire.Sealed) error {
	value, err := sealed.Encode()
	if err != nil {
		return err
	}
	return atomicfile.Write(SealedPath(dataDir), value, 0o644)
}

// wholeTopics are topics that can be read from their start to their current end.
type wholeTopics interface {
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
}

// readControl reads control records; it tolerates a missing topic.
func readControl(ctx context.Context, topics wholeTopics, fn func(ingest.Record) error) error {
	err := topics.ReadAll(ctx, bus.Control, fn)
	if errors.Is(err, bus.ErrUnknownTopic) {
		return nil
	}
	return err
}

// read reads the file of the data directory, and refuses it under another secret.
func (s sealing) read() (wire.Sealed, error) {
	sealed, err := ReadSealed(s.config.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return wire.NewSealed(s.secret, nil), nil
	}
	if err != nil {
		return sealed, fmt.Errorf("%w (%s)", err, SealedRemedy(s.config))
	}
	if here := wire.SecretCheck(s.secret); sealed.SecretCheck != here {
		return sealed, fmt.Errorf("%w: secret_file is key %s here, the data directory was begun with key %s "+
			"(give this process that one, with secret.ledger beside it if it was rotated, or start over with empty data "+
			"directories and empty topics)",
			ErrSettings, here, sealed.SecretCheck)
	}
	return sealed, nil
}

// others are settings of processes with another secret, in case no process with this one has
// published any. Among records of the deployment they are ignored.
type others struct {
	proven   bool
	settings []wire.Settings
}

func (o *others) note(rec ingest.Record) {
	if rec.Unauthenticated == "" {
		o.proven = true
		return
	}
	rec.Unauthenticated = ""
	if settings, found, _ := wire.ParseSettings(rec); found {
		o.settings = append(o.settings, settings)
	}
}

// compare reports the settings in which a process differs from all that were published. Its data
// directory may come from a rejected start, so a process without a record of its own is compared
// too.
func (o *others) compare(p *shared) error {
	if o.proven {
		return nil
	}
	for _, settings := range o.settings {
		if err := p.compare(settings); err != nil {
			return err
		}
	}
	return nil
}

// because returns why a record is not accepted as the deployment's, or "".
func because(rec ingest.Record) string {
	if rec.Unauthenticated == "" {
		return ""
	}
	return ": " + rec.Unauthenticated
}
