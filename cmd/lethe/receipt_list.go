package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lethe"
	"lethe/internal/command"
	"lethe/service"
)

type receiptListCmd struct {
	trustFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (receiptListCmd) Help() string {
	return `Example:
  lethe receipt list --data-dir lethe-data

It lists the oldest receipt first, and verifies each as lethe receipt verify does. If one is not
valid, the command fails.`
}

// listed is a receipt in the list. The JSON names are part of the command line.
type listed struct {
	RequestID  string      `json:"request_id"`
	VerifiedAt time.Time   `json:"verified_at,omitzero"`
	Scope      lethe.Scope `json:"scope,omitempty"`
	Targets    int         `json:"targets"`
	Shards     int         `json:"shards_retrained"`
	Valid      bool        `json:"valid"`
	Problems   []string    `json:"problems,omitempty"`
	File       string      `json:"file"`
}

// Run lists the receipts of a data directory.
func (c *receiptListCmd) Run(a *command.App) error {
	config, err := command.ConfigFlags{Config: c.Config, DataDir: c.DataDir}.Load(a, nil)
	if err != nil {
		return err
	}
	c.DataDir = config.DataDir
	list, err := c.list(a, service.ReceiptsDir(config.DataDir))
	if err != nil {
		return err
	}
	if c.JSON {
		err = a.PrintJSON(map[string]any{"receipts": list})
	} else {
		err = printReceipts(a, list)
	}
	bad := 0
	for _, r := range list {
		if !r.Valid {
			bad++
		}
	}
	if err == nil && bad > 0 {
		err = fmt.Errorf("%d of %d receipts are not valid", bad, len(list))
	}
	return err
}

// list checks the receipts in a directory.
func (c *receiptListCmd) list(a *command.App, folder string) ([]listed, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(folder); err != nil {
		return nil, fmt.Errorf("receipts: %w (name the data directory with --data-dir)", err)
	}
	out := []listed{}
	for _, path := range paths {
		_, found, err := c.read(a, path)
		if err != nil {
			return nil, err
		}
		r := listed{RequestID: strings.TrimSuffix(filepath.Base(path), ".json"), Valid: found.Valid, File: path}
		if found.Receipt != nil {
			r.RequestID, r.VerifiedAt, r.Scope = found.Receipt.RequestID, found.Receipt.VerifiedAt, found.Receipt.Scope
			r.Targets, r.Shards = len(found.Receipt.Targets), len(found.Receipt.ShardsRetrained)
		} else {
			r.Problems = found.Problems
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b listed) int { return a.VerifiedAt.Compare(b.VerifiedAt) })
	return out, nil
}

func printReceipts(a *command.App, list []listed) error {
	if len(list) == 0 {
		fmt.Fprintln(a.Stdout, "no receipts")
		return nil
	}
	rows := [][]string{{"request", "verified", "scope", "targets", "shards", "valid"}}
	for _, r := range list {
		verdict := "valid"
		if !r.Valid {
			verdict = "not valid: " + strings.Join(r.Problems, "; ")
		}
		when := "–"
		if !r.VerifiedAt.IsZero() {
			when = r.VerifiedAt.UTC().Format("2006-01-02 15:04:05")
		}
		rows = append(rows, []string{
			r.RequestID, when, orNone(string(r.Scope)), strconv.Itoa(r.Targets), strconv.Itoa(r.Shards), verdict,
		})
	}
	return command.Table(a.Stdout, rows)
}
