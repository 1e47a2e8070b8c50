package main

import (
	"time"

	"lethe/configs"
	"lethe/internal/command"
	"lethe/service"
)

type membersCmd struct {
	List   membersListCmd   `cmd:"" help:"List the data directories and their roles."`
	Strike membersStrikeCmd `cmd:"" help:"Remove a data directory that is lost for good."`
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

It lists every data directory that has announced a role, whether or not its process is running. An
erasure waits until all of them have searched their files. The command needs the deployment's
secret, from the data directory or secret_file.`
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
	Instance string   `arg:"" help:"Id of the instance, or its beginning."`
	Role     string   `help:"Role that it had." default:"train"`
	Sign     []string `help:"Private key of an admin to sign with. Repeatable." type:"path" placeholder:"FILE"`
	JSON     bool     `help:"Print one JSON document."`
}

// Help shows an example.
func (membersStrikeCmd) Help() string {
	return `Example:
  lethe members strike 5b1f09aa --brokers kafka-1:9092 --set secret_file=/etc/lethe/secret

Use it for a data directory that is lost or destroyed; the one that --data-dir names is refused.
Erasures no longer wait for it. Its removal is a leaf of the transparency log, and every later
receipt names the directory as not searched. The removal is final: if a process runs on the
directory again, it stops. The command needs the deployment's secret, from the data directory or
secret_file. Where signatures.operators is set, the key of an admin must sign it (--sign), and
--config must name the deployment's file of keys.`
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
	return a.Print(c.JSON, m, "instance %s of role %s is struck off: no erasure waits for it, and receipts name it\n",
		m.Instance, m.Role)
}

// openAsMember connects to the brokers with the deployment's secret, which must exist.
func openAsMember(a *command.App, flags command.ConfigFlags) (m service.Membership, err error) {
	config, err := flags.Load(a, nil)
	if err != nil {
		return m, err
	}
	m.DataDir = config.DataDir
	if m.Secret, err = configs.KeysOf(config).Secret(a.Context); err != nil {
		return m, err
	}
	if m.Authority, err = configs.LoadAuthority(config.Signatures); err != nil {
		return m, err
	}
	config.Kafka.Around = reportGaps(a)
	m.Client, err = reach(a.Context, config)
	return m, err
}
