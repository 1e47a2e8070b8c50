package main

import (
	"fmt"
	"time"

	"lethe"
	"lethe/configs"
	"lethe/deletions/translog"
	"lethe/internal/command"
)

type logAccessesCmd struct {
	logFlags
	Actor   string `help:"Only actions of this person, named as in the tokens file." placeholder:"NAME"`
	Request string `help:"Only actions on this request and views of it." placeholder:"ID"`
	JSON    bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (logAccessesCmd) Help() string {
	return `Example:
  lethe log accesses --data-dir lethe-data --request gdpr-17
  lethe log accesses --data-dir lethe-data --actor anna

The log contains only keyed hashes of people and requests. --actor and --request look for the hash
of a name, which needs the deployment's secret. Stop lethe run on the directory first, or give
--brokers, the secret (--set secret_file=FILE) and --public-key.`
}

// loggedAccess is an access in the output. The JSON names are part of the command line.
type loggedAccess struct {
	Index   int64         `json:"index"`
	Deed    translog.Deed `json:"deed"`
	At      time.Time     `json:"at"`
	Actor   lethe.Digest  `json:"actor,omitzero"`
	Request lethe.Digest  `json:"request,omitzero"`
	Count   int           `json:"count,omitempty"`
}

// Run lists them.
func (c *logAccessesCmd) Run(a *command.App) error {
	log, config, err := c.read(a)
	if err != nil {
		return err
	}
	var actor, request lethe.Digest
	if c.Actor != "" || c.Request != "" {
		secret, err := configs.KeysOf(config).Secret(a.Context)
		if err != nil {
			return fmt.Errorf("--actor and --request need the deployment's secret: %w", err)
		}
		actor, request = translog.ActorHash(secret, c.Actor), translog.RequestHash(secret, c.Request)
	}
	list := []loggedAccess{}
	for i, text := range log.Leaves {
		leaf, err := translog.Decode(text)
		if err != nil {
			return fmt.Errorf("leaf %d: %w", i, err)
		}
		access, is := leaf.(translog.Access)
		if !is || c.Actor != "" && access.Actor != actor || c.Request != "" && access.Request != request {
			continue
		}
		list = append(list, loggedAccess{int64(i), access.Deed, access.At, access.Actor, access.Request, access.Count})
	}
	if c.JSON {
		return a.PrintJSON(map[string]any{"accesses": list})
	}
	for _, l := range list {
		fmt.Fprintf(a.Stdout, "%d %s %s by %s of %s", l.Index, l.At.Format(time.RFC3339), l.Deed,
			hashOr(l.Actor, "somebody without a login"), hashOr(l.Request, "no request"))
		if l.Count > 0 {
			fmt.Fprintf(a.Stdout, " (%d)", l.Count)
		}
		fmt.Fprintln(a.Stdout)
	}
	return nil
}

// hashOr returns the first digits of a hash, or another text if there is none.
func hashOr(d lethe.Digest, none string) string {
	const shown = 16
	if d.IsZero() {
		return none
	}
	return d.String()[:shown]
}
