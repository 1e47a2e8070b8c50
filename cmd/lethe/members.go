package main

import (
	"fmt"
	"time"

	"lethe/configs"
	"lethe/internal/command"
	"lethe/service"
)

type membersCmd struct {
	List   membersListCmd   `cmd:"" help:"List the data directories that play the roles."`
	Strike membersStrikeCmd `cmd:"" help:"Strike off a data directory that is gone for good."`
}

// Help shows an example.
func (membersCmd) Help() string {
	return `Example:
  lethe members list --brokers kafka-1:9092 --set secret_file=/etc/lethe/secret`
}

type membersListCmd struct {
	command.ConfigFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (membersListCmd) Help() string {
	return `Example:
  lethe members list --brokers kafka-1:9092 --set secret_file=/etc/lethe/secret

Every data directory that has said that it plays a role, whether or not its process runs. An
erasure waits until all of them have searched what they keep. It takes the deployment's secret,
from the data directory or secret_file.`
}

// Run lists the members.
func (c *membersListCmd) Run(a *command.App) error {
	members, err := openAsMember(a, c.ConfigFlags)
	if err != nil {
		return err
	}
	defer members.Client.Close()
	list, err := members.List(a.Context)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(list)
	}
	rows := [][]string{{"role", "instance", "state", "since"}}
	for _, m := range list {
		since := ""
		if !m.StruckAt.IsZero() {
			since = m.StruckAt.Format(time.RFC3339)
		}
		rows = append(rows, []string{m.Role, m.Instance, m.State, since})
	}
	return command.Table(a.Stdout, rows)
}

type membersStrikeCmd struct {
	command.ConfigFlags
	Instance string   `arg:"" help:"The instance, or how it begins."`
	Role     string   `help:"The role that it played." default:"train"`
	Sign     []string `help:"Private key of an admin to sign with; repeatable." type:"path" placeholder:"FILE"`
	JSON     bool     `help:"Print one JSON document."`
}

// Help shows an example.
func (membersStrikeCmd) Help() string {
	return `Example:
  lethe members strike 5b1f09aa --brokers kafka-1:9092 --set secret_file=/etc/lethe/secret

For a data directory that is lost or destroyed. No erasure waits for it any more. That it was
struck off is a leaf of the transparency log, and every receipt from then on names its folder as
not searched. It is not taken back: the directory may not come back, and its process stops. It takes
the deployment's secret, from the data directory or secret_file. Where signatures.operators is set, a
key of the role admin signs it (--sign), and --config names the deployment's file of keys.`
}

// Run strikes a member off.
func (c *membersStrikeCmd) Run(a *command.App) error {
	keys, err := signingKeys(c.Sign)
	if err != nil {
		return err
	}
	members, err := openAsMember(a, c.ConfigFlags)
	if err != nil {
		return err
	}
	defer members.Client.Close()
	m, err := members.Strike(a.Context, c.Role, c.Instance, time.Now(), keys...)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(m)
	}
	fmt.Fprintf(a.Stdout, "instance %s of role %s is struck off: no erasure waits for it, and receipts name it\n",
		m.Instance, m.Role)
	return nil
}

// openAsMember reaches the brokers with the deployment's secret, which must be there.
func openAsMember(a *command.App, flags command.ConfigFlags) (m service.Membership, err error) {
	config, err := flags.Load(a, nil)
	if err != nil {
		return m, err
	}
	if m.Secret, err = configs.KeysOf(config).Secret(a.Context); err != nil {
		return m, err
	}
	if m.Authority, err = configs.LoadAuthority(config.Signatures); err != nil {
		return m, err
	}
	config.Kafka.Around = tellOfGaps(a)
	m.Client, err = reach(a.Context, config)
	return m, err
}
