package main

import (
	"strings"

	"lethe/internal/command"
	"lethe/internal/processors"
	"lethe/service"
)

type runCmd struct {
	command.ConfigFlags
	Roles          []string `help:"${roles}" placeholder:"ROLE"`
	TakeOver       bool     `help:"Take over roles of other data directories, which are lost for good."`
	ChangeSettings bool     `help:"Train with settings that differ from those of other processes, which stop."`
}

// Help shows an example.
func (runCmd) Help() string {
	return `Example:
  lethe run --data-dir /var/lib/lethe
  lethe run --brokers kafka-1:9092,kafka-2:9092 --roles train

Without --brokers it starts an embedded broker on 127.0.0.1:9092, which lethe replay and
lethe erase reach from another terminal. The web interface, the metrics and the health checks are
on http://127.0.0.1:8080. An interrupt or SIGTERM stops it cleanly; it can also be killed at any
time. While brokers are unavailable it waits, and /readyz, the metrics and the log say so.`
}

// Run runs the service until it is interrupted.
func (c *runCmd) Run(a *command.App) error {
	extra := make(map[string]any)
	if len(c.Roles) > 0 {
		extra["roles"] = c.Roles
	}
	config, err := c.Load(a, extra)
	if err != nil {
		return err
	}
	config.Trainer.Workers = config.Workers()
	processors.Spare()
	log := a.Logger(config.Log)
	o := service.Defaults(config, a.Version, log)
	o.TakeOver, o.ChangeSettings = c.TakeOver, c.ChangeSettings
	s, err := service.New(a.Context, o)
	if err != nil && a.Context.Err() != nil {
		log.Info("lethe stopped before it was open")
		return nil //nolint:nilerr // interrupted while waiting for brokers
	}
	if err != nil {
		return err
	}
	log.Info("lethe is running", "http", "http://"+s.HTTPAddress(), "brokers", strings.Join(s.Brokers(), ","),
		"roles", strings.Join(config.Plays(), ","), "data_dir", config.DataDir)
	err = s.Run(a.Context)
	if closed := s.Close(); err == nil {
		err = closed
	}
	if err == nil {
		log.Info("lethe stopped")
	}
	return err
}
