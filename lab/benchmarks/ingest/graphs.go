package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/configs"
	"lethe/deletions/coordinator"
	"lethe/ingest/bus"
	"lethe/internal/command"
	"lethe/internal/cputime"
	"lethe/internal/processors"
	"lethe/pipeline/graphs"
	"lethe/pipeline/role"
)

// look is how often it is looked how far the role is.
const look = 200 * time.Microsecond

// takeIn has the role graphs take the topic in.
func (b *benchmark) takeIn(ctx context.Context) (m measured, err error) {
	dir, err := os.MkdirTemp("", "lethe-ingest-state-")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	client, err := bus.Open(b.config())
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	disk := &writtenFS{FS: vfs.Default}
	options := b.options(dir, disk, client)
	// As lethe run does:
	command.CollectSeldom(ctx)
	processors.Spare()
	opened, err := graphs.New(ctx, options)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	stopProfile, err := b.profile()
	if err != nil {
		return m, err
	}
	defer stopProfile()
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- opened.Run(running) }()
	m, err = b.watch(opened, ended)
	m.WrittenBytes, m.PayloadBytes = disk.written.Load(), b.PayloadBytes
	m.SyncSeconds = time.Duration(disk.waited.Load()).Seconds()
	stop()
	return m, errors.Join(err, <-ended)
}

// profile begins one, if it is asked for.
func (b *benchmark) profile() (stop func(), err error) {
	if b.CPUProfile == "" {
		return func() {}, nil
	}
	file, err := os.Create(b.CPUProfile)
	if err == nil {
		err = pprof.StartCPUProfile(file)
	}
	if err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}, nil
}

// watch waits until all transactions are in durable state.
func (b *benchmark) watch(r *role.Follower, ended chan error) (m measured, err error) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	progress := progress{all: int64(b.Transactions)}
	for range ticker.C {
		select {
		case err := <-ended:
			ended <- nil
			return m, errors.Join(errors.New("the role ended"), err)
		default:
		}
		sum := int64(0)
		for at, next := range r.Status().Consumed {
			if at.Topic == bus.Transactions {
				sum += next
			}
		}
		if progress.reached(sum) {
			break
		}
	}
	return progress.measured(), nil
}

// progress is how far the transactions are taken in.
type progress struct {
	all, taken int64
	last       time.Time
	pause      time.Duration
	memory     []int64
	// first is when the first of them were, and how many these are.
	first    time.Time
	begun    int64
	used, by time.Duration
}

// reached notes how many are taken in now, and reports whether those are all.
func (p *progress) reached(taken int64) bool {
	if taken == p.taken {
		return false
	}
	now := time.Now()
	if p.taken > 0 {
		p.pause = max(p.pause, now.Sub(p.last))
	} else {
		p.first, p.begun, p.used = now, taken, cputime.Used()
	}
	p.last, p.taken, p.by = now, taken, cputime.Used()
	const tenths = 10
	for len(p.memory) < tenths && taken*tenths >= p.all*int64(len(p.memory)+1) {
		p.memory = append(p.memory, memory())
	}
	return taken >= p.all
}

// measured is of all but the first that were taken in, from then on: as with the bare reader, connecting and joining do
// not count.
func (p *progress) measured() measured {
	m := measured{PauseSeconds: p.pause.Seconds(), MemoryBytes: p.memory}
	if m.Part = 1 - float64(p.begun)/float64(p.all); m.Part > 0 {
		m.Seconds, m.Cores = p.last.Sub(p.first).Seconds(), float64(p.by-p.used)/float64(p.last.Sub(p.first))
	}
	return m
}

// options are those of a deployment by default.
func (b *benchmark) options(dir string, disk *writtenFS, client *bus.Client) graphs.Options {
	c := configs.Default()
	c.Ingest.FeatureCount = b.Features
	return graphs.Options{
		FS: disk, Dir: filepath.Join(dir, "build"), ReceiptsDir: filepath.Join(dir, "receipts"),
		Snapshot: c.Ingest.Config, Limits: c.Ingest.Records, Partition: c.PartitionConfig(), Repair: c.RepairConfig(),
		Secret: lethe.Secret{1}, Version: "benchmark", Workers: c.Workers(), Bus: role.Kafka{Client: client},
		Clock: coordinator.WallClock{Time: time.Now}, Beside: func(search func()) { go search() },
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Erasure: coordinator.Config{
			Deployment: lethe.DeploymentID{1}, SigningKey: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)),
			KernelSet: "none", VerifyTimeout: time.Minute, DefaultScope: lethe.ScopeStubs,
		},
	}
}
