package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"lethe/configs"
	"lethe/deletions/backups"
	"lethe/internal/command"
	"lethe/service/backup"
)

type backupCmd struct {
	Create  backupCreateCmd  `cmd:"" help:"Back up a stopped data directory to one file."`
	Restore backupRestoreCmd `cmd:"" help:"Restore a backup, and repeat the erasures made since."`
	List    backupListCmd    `cmd:"" help:"List the backups of a data directory."`
	Forget  backupForgetCmd  `cmd:"" help:"Record that a backup was destroyed."`
}

// Help shows an example.
func (backupCmd) Help() string {
	return "Example:\n  lethe backup create lethe-2026-11.tar --data-dir lethe-data --keep 720h"
}

type backupCreateCmd struct {
	command.ConfigFlags
	File string        `arg:"" help:"File to write; must not exist." type:"path"`
	Keep time.Duration `help:"Longest time for which the file will be kept." default:"720h" placeholder:"DURATION"`
	JSON bool          `help:"Print one JSON document."`
}

// Help shows an example.
func (backupCreateCmd) Help() string {
	return `Example:
  lethe backup create lethe-2026-11.tar --data-dir lethe-data --keep 720h

Stop lethe run on the directory first, so that the stores of all roles match. The file contains the
deployment's secret and signing key: protect it as you protect these, and destroy it before it
expires, because receipts name it until then. With external brokers it contains only keys and
receipts, because everything else is in the topics.`
}

// Run makes a backup.
func (c *backupCreateCmd) Run(a *command.App) error {
	if c.Keep < time.Hour {
		return command.Usage(fmt.Errorf("--keep is %v, at least 1h", c.Keep))
	}
	config, err := c.Load(a, nil)
	if err != nil {
		return err
	}
	m, err := backup.Create{
		Config: config, To: c.File, Keep: c.Keep, Version: a.Version, Random: rand.Reader, Now: time.Now(),
	}.Run()
	if err != nil {
		return err
	}
	var bytes int64
	for _, f := range m.Files {
		bytes += f.Bytes
	}
	return a.Print(c.JSON, m, "backup %s: %d files, %d bytes, expires %s\n", m.ID, len(m.Files), bytes,
		m.ExpiresAt.Format(time.RFC3339))
}

type backupRestoreCmd struct {
	command.ConfigFlags
	File          string `arg:"" help:"Backup file." type:"path"`
	Ledger        string `help:"Data directory or later backup with the latest ledger." type:"path" placeholder:"PATH"`
	WithoutLedger bool   `help:"Accept that the latest ledger is lost: data erased since the backup reappears."`
	PublicKey     string `help:"Key that must have signed it; by default that of --ledger." type:"path" placeholder:"FILE"`
	JSON          bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (backupRestoreCmd) Help() string {
	return `Example:
  lethe backup restore lethe-2026-11.tar --data-dir lethe-new --ledger lethe-data

--data-dir is a new folder; the other settings are those that the backup was made with. The ledger,
the transparency log, receipts and keys come from --ledger, which knows the erasures made since.
Their targets are suppressed from the first record on and erased again, with a receipt, before
lethe run can start on the folder. Stop lethe run on the directory of the ledger first.`
}

// restoredBackup is the output of restore.
type restoredBackup struct {
	ID        string    `json:"backup_id"`
	CreatedAt time.Time `json:"created_at"`
	DataDir   string    `json:"data_dir"`
	backup.Again
}

// Run restores a backup.
func (c *backupRestoreCmd) Run(a *command.App) error {
	if c.Ledger != "" && c.WithoutLedger {
		return command.Usage(errors.New("--ledger and --without-ledger exclude each other"))
	}
	if c.DataDir == "" {
		return command.Usage(errors.New("--data-dir names the new folder"))
	}
	config, err := c.Load(a, nil)
	if err != nil {
		return err
	}
	var keys []ed25519.PublicKey
	if c.PublicKey != "" {
		if keys, err = configs.ReadPublicKeys(c.PublicKey); err != nil {
			return fmt.Errorf("--public-key: %w", err)
		}
	}
	m, err := backup.Restore{
		Config: config, From: c.File, Ledger: c.Ledger, WithoutLedger: c.WithoutLedger, Keys: keys, Now: time.Now(),
	}.Run()
	if err != nil {
		return err
	}
	again, err := backup.Finish(a.Context, config, a.Version, a.Logger(config.Log))
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(restoredBackup{m.ID, m.CreatedAt, config.DataDir, again})
	}
	fmt.Fprintf(a.Stdout, "backup %s of %s is in %s\n", m.ID, m.CreatedAt.Format(time.RFC3339), config.DataDir)
	fmt.Fprintf(a.Stdout, "erased again: %d targets of %d requests; %d requests are held\n", again.Targets,
		len(again.Requests), len(again.Held))
	for id, state := range again.Ended {
		fmt.Fprintf(a.Stdout, "request %s was under way and is %s: what the backup held of it is erased if it was "+
			"suppressed; else submit it again\n", id, state)
	}
	return nil
}

type backupListCmd struct {
	command.ConfigFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (backupListCmd) Help() string { return "Example:\n  lethe backup list --data-dir lethe-data" }

// listedBackup is a backup with its current state.
type listedBackup struct {
	backups.Backup
	State string `json:"state"`
}

// Run lists backups.
func (c *backupListCmd) Run(a *command.App) error {
	config, err := c.Load(a, nil)
	if err != nil {
		return err
	}
	list, err := backup.List(config)
	if err != nil {
		return err
	}
	out, rows := []listedBackup{}, [][]string{{"backup", "state", "created", "expires"}}
	for _, b := range list {
		one := listedBackup{b, b.State(time.Now())}
		out = append(out, one)
		rows = append(rows, []string{b.ID, one.State, b.CreatedAt.Format(time.DateTime), b.ExpiresAt.Format(time.DateTime)})
	}
	if c.JSON {
		return a.PrintJSON(out)
	}
	return command.Table(a.Stdout, rows)
}

type backupForgetCmd struct {
	command.ConfigFlags
	ID   string `arg:"" help:"Id of the backup."`
	JSON bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (backupForgetCmd) Help() string {
	return `Example:
  lethe backup forget backup-5c1e0b0d2f7a9e64 --data-dir lethe-data

Destroy the file first: receipts of later erasures no longer name it.`
}

// Run records that a backup was destroyed.
func (c *backupForgetCmd) Run(a *command.App) error {
	config, err := c.Load(a, nil)
	if err != nil {
		return err
	}
	b, err := backup.Forget(config, c.ID, time.Now())
	if err != nil {
		return err
	}
	one := listedBackup{b, b.State(time.Now())}
	return a.Print(c.JSON, one, "backup %s: %s\n", b.ID, one.State)
}
