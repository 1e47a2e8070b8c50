package main

import (
	"fmt"
	"net/http"
	"time"

	"lethe/internal/command"
	"lethe/internal/diskroom"
	"lethe/service/doctor"
)

type doctorCmd struct {
	command.ConfigFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (doctorCmd) Help() string {
	return `Example:
  lethe doctor --config lethe.yaml

It checks the data directory, disk, keys, brokers, topics, ACLs, the clock and the service that runs
with this configuration, and changes nothing. Every problem is listed with its fix. Warnings alone
do not make the command fail.`
}

// doctorTimeout bounds one request to the running service.
const doctorTimeout = 5 * time.Second

// Run lists the findings; a problem is a failure.
func (c *doctorCmd) Run(a *command.App) error {
	config, err := c.Load(a, nil)
	if err != nil {
		return err
	}
	list := doctor.Examine(a.Context, doctor.Options{
		Config: config, Version: a.Version, Now: time.Now, Disk: diskroom.Of,
		HTTP: &http.Client{Timeout: doctorTimeout},
	})
	problems := 0
	for _, f := range list {
		if f.Grade == doctor.Problem {
			problems++
		}
	}
	if c.JSON {
		if err := a.PrintJSON(map[string]any{"ok": problems == 0, "findings": list}); err != nil {
			return err
		}
	} else {
		for _, f := range list {
			fmt.Fprintf(a.Stdout, "%-8s %-8s %s\n", f.Grade, f.Check, f.Message)
			if f.Remedy != "" {
				fmt.Fprintf(a.Stdout, "%17s → %s\n", "", f.Remedy)
			}
		}
	}
	if problems > 0 {
		return fmt.Errorf("%d problems, named above with what to do", problems)
	}
	return nil
}
