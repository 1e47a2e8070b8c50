package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/atomicfile"
	"lethe/pipeline/wire"
)

// SealedPath is the file of a data directory with the offsets from which records of sealed topics
// carry codes, and the identity of the secret.
func SealedPath(dataDir string) string { return filepath.Join(dataDir, "sealed") }

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

// othersMay are the permissions of a directory for other users.
const othersMay = 0o077

// closeToOthers removes the permissions of other users on the data directory, whose stores contain people's ids. If
// a volume belongs to another user, as under Kubernetes, whoever mounts it must do that.
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
				"(nobody can make it again; without it begin anew with an empty data directory and empty topics)",
				configs.ErrKeyFile, path, what)
		}
	}
	return nil
}

// beginSealed records in a data directory that this version created it. It does so before any other trace of use
// exists: if a start ended in between, the next one would take the directory for one of an earlier version, and all
// processes would accept the existing records of the topics without a code.
func beginSealed(dataDir string) error {
	path := SealedPath(dataDir)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	value, err := wire.SealedFromTheBeginning().Encode()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, value, 0o644)
}

// sealing is the service in the phase in which it determines from which offsets records carry
// codes.
type sealing struct{ *Service }

// begin makes the clients add and check the codes of records of sealed topics. Records of a version
// without codes are accepted by their position: the first process of this version that starts on an
// existing directory records the ends of the topics, in the directory and, with a code, on
// control.v1 for the others. After these offsets nothing is accepted without a code, in any
// directory.
func (s sealing) begin(ctx context.Context) error {
	own, known, err := s.read()
	if err != nil {
		return err
	}
	use := func() { wire.SealOf(s.secret, own).On(s.client, s.patient) }
	use()
	said := make(map[bus.TopicPartition]int64)
	told := false
	if err := readControl(ctx, topicsOf(s.Service, nil), func(rec ingest.Record) (err error) {
		if sealed, found := wire.ParseSealed(rec); found {
			said, err = sealed.Before()
			told = err == nil
		}
		return err
	}); err != nil {
		return fmt.Errorf("from where records are sealed: %w", err)
	}
	if s.begun && !known && !told {
		if own, err = s.internalEnds(ctx); err != nil {
			return err
		}
	}
	tell := false
	for tp, offset := range own {
		tell = tell || offset > said[tp]
	}
	for tp, offset := range said {
		own[tp] = max(own[tp], offset)
	}
	use()
	if tell {
		record, err := wire.NewSealed(s.secret, own).Record()
		if err == nil {
			err = s.patient.Write(ctx, bus.Control, []ingest.Outgoing{record})
		}
		if err != nil {
			return err
		}
		s.o.Logger.Info("records of internal topics carry codes from here on, and older ones are taken by their place",
			"partitions", len(own))
	}
	value, err := wire.NewSealed(s.secret, own).Encode()
	if err != nil {
		return err
	}
	return atomicfile.Write(SealedPath(s.config.DataDir), value, 0o644)
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

// read reads the directory's offsets, and rejects a directory of another secret.
func (s sealing) read() (before map[bus.TopicPartition]int64, known bool, err error) {
	path := SealedPath(s.config.DataDir)
	value, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return make(map[bus.TopicPartition]int64), false, nil
	}
	var sealed wire.Sealed
	if err == nil {
		sealed, err = wire.DecodeSealed(value)
	}
	if err == nil {
		before, err = sealed.Before()
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w (put it back from a copy of the data directory)", path, err)
	}
	if here := wire.SecretCheck(s.secret); !sealed.Fits(here) {
		return nil, false, fmt.Errorf("%w: secret_file is key %s here, the data directory was begun with key %s "+
			"(give this process that one, with secret.ledger beside it if it was rotated, or begin anew with empty data "+
			"directories and empty topics)",
			ErrSettings, here, sealed.SecretCheck)
	}
	return before, true, nil
}

// internalEnds are the ends of the partitions of sealed topics that contain records.
func (s sealing) internalEnds(ctx context.Context) (map[bus.TopicPartition]int64, error) {
	ends, err := bus.EndsOf(ctx, s.patient, bus.Sealed()...)
	maps.DeleteFunc(ends, func(_ bus.TopicPartition, end int64) bool { return end == 0 })
	return ends, err
}

// others are settings of processes with another secret, in case no process with this one has
// published any. Among records of the deployment they are ignored.
type others struct {
	proven bool
	said   []wire.Settings
}

func (o *others) note(rec ingest.Record) {
	if rec.Unproven == "" {
		o.proven = true
		return
	}
	rec.Unproven = ""
	if said, found, _ := wire.ParseSettings(rec); found {
		o.said = append(o.said, said)
	}
}

// compare reports the settings in which a process differs from all that were published. Its data
// directory may come from a rejected start, so a process without a record of its own is compared
// too.
func (o *others) compare(p *shared) error {
	if o.proven {
		return nil
	}
	for _, said := range o.said {
		if err := p.compare(said); err != nil {
			return err
		}
	}
	return nil
}

// because returns why a record is not accepted as the deployment's, or "".
func because(rec ingest.Record) string {
	if rec.Unproven == "" {
		return ""
	}
	return ": " + rec.Unproven
}
