package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/audit/challenge"
	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/disk"
	"lethe/deletions/translog"
	"lethe/scoring/ensemble"
	"lethe/service"
	"lethe/trainer"
)

// Answer builds the bundle that answers an auditor's challenge, from the log and from train's
// slices and models. config must be the configuration that the directory was written with. No role
// may be running on the directory.
//
// Errors wrap challenge.ErrUnanswerable if the log is not that of the challenge or lacks required leaves.
func Answer(config configs.Config, c challenge.Challenge) (*challenge.Bundle, error) {
	secret, err := configs.KeysOf(config).Secret(context.Background())
	if err != nil {
		return nil, err
	}
	layout, err := config.Layout()
	if err != nil {
		return nil, err
	}
	over, err := config.MetaConfig()
	if err != nil {
		return nil, err
	}
	leaves, err := readLog(config)
	if err != nil {
		return nil, err
	}
	inv := &inventory{config: config, layout: layout}
	if err := inv.takeColumns(); err != nil {
		return nil, err
	}
	if len(inv.missing) > 0 {
		return nil, errors.New(inv.missing[0])
	}
	set, err := inv.kernels()
	if err != nil {
		return nil, err
	}
	setup := ensemble.Setup{Layout: layout, Kernels: set.Name, Meta: over}
	encoded, err := setup.Encode()
	if err != nil {
		return nil, err
	}
	runner, err := setup.Runner(config.Workers())
	if err != nil {
		return nil, err
	}
	return challenge.Assemble(c, leaves, encoded, held{
		learnt{layout: layout, over: over, columns: inv.columns, served: lethe.NoTimestep}, secret, runner,
	})
}

// readLog reads the leaves of the transparency log.
func readLog(config configs.Config) (leaves [][]byte, err error) {
	dir := service.RoleDir(config.DataDir, configs.RoleBuild)
	if _, err := os.Stat(filepath.Join(dir, "ledger")); err != nil {
		return nil, fmt.Errorf("the transparency log: %w (it is in the data directory of the process that plays %s)", err,
			configs.RoleErasure)
	}
	_, store, err := disk.OpenLedger(service.RemediedFS(vfs.Default, config.DataDir, configs.RoleGraphs), dir, nil)
	if err != nil {
		return nil, opening(err, config.DataDir, configs.RoleGraphs)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	log, err := translog.ReadStored(disk.KV(store))
	return log.Leaves, err
}

// held reads from the stores of train.
type held struct {
	learnt
	secret lethe.Secret
	runner ensemble.Runner
}

var errNotHeld = errors.New("train does not hold it: start lethe run, which makes it again from the topics")

// Slice implements challenge.Source.
func (h held) Slice(p challenge.Pair) ([]byte, error) {
	column := h.columns[p.Shard]
	if _, found := column.Slices[p.Timestep]; !found {
		return nil, errNotHeld
	}
	return column.Slice(p.Timestep)
}

// Model implements challenge.Source. A thinned-out model that continues from its previous one is retrained.
func (h held) Model(model lethe.ShardID, t lethe.Timestep) ([]byte, error) {
	checkpoints, timesteps := h.checkpoints(model), h.home(model).Timesteps
	if data, found := checkpoints[t]; found {
		return data, nil
	}
	end, found := slices.BinarySearch(timesteps, t)
	if !found || h.layout.Config(model).Schedule == trainer.Window {
		return nil, errNotHeld
	}
	var from *trainer.Checkpoint
	var list []*lethe.Slice
	for _, at := range timesteps[:end+1] {
		if data, found := checkpoints[at]; found {
			var err error
			if from, err = trainer.DecodeCheckpoint(data); err != nil {
				return nil, err
			}
		}
		s, err := h.slice(model, at)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	made, err := h.runner.Column(model).Newest(context.Background(), from, list)
	if err != nil {
		return nil, err
	}
	return trainer.EncodeCheckpoint(made), nil
}

// Salts implements challenge.Source.
func (h held) Salts(request lethe.Digest, n int) []lethe.Digest {
	return deletions.Salts(h.secret, request, n)
}

// FoundSalt implements challenge.Source.
func (h held) FoundSalt(request lethe.Digest) lethe.Digest {
	return deletions.FoundSalt(h.secret, request)
}
