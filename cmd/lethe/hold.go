package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/internal/command"
	"lethe/pipeline/requests"
)

type holdCmd struct {
	Set  holdSetCmd  `cmd:"" help:"Keep transactions or subjects from being erased."`
	Lift holdLiftCmd `cmd:"" help:"End a hold."`
	List holdListCmd `cmd:"" help:"List all holds."`
}

// Help shows an example.
func (holdCmd) Help() string {
	return `Example:
  lethe hold set --node 230007682 --reason "case 7" --until 2027-01-31
  lethe hold list`
}

type holdSetCmd struct {
	Node    names  `help:"Transaction to keep. Repeatable." placeholder:"ID"`
	Subject names  `help:"Customer, account or address whose records to keep. Repeatable." placeholder:"KEY"`
	Reason  string `help:"Reason; only its keyed hash is stored." placeholder:"TEXT"`
	Until   string `help:"When it ends: a date, RFC 3339, or a duration (720h); by default when lifted." placeholder:"T"`
	Name    string `help:"Name of the hold; generated if absent." placeholder:"NAME"`
	signedFlags
}

// Help shows an example.
func (holdSetCmd) Help() string {
	return `Example:
  lethe hold set --node 230007682 --reason "case 7" --until 2160h
  lethe hold set --subject customer-17 --reason "case 8"

A request that names a held transaction waits as a whole, in the state held. It suppresses nothing:
the transaction is scored and learnt from as before. The request continues by itself once no hold
names its transactions. A date given with --until means the end of that day, UTC.

A hold of a subject covers all records with its key. Requests for the subject wait, and so do
requests for a transaction or payment with the key, and for the two transactions of such a payment.

An erasure that has begun to rewrite cannot be held: the command prints for how many targets the
hold came too late, with exit status 1.`
}

// heldBy is a hold with its current state.
type heldBy struct {
	deletions.Hold
	State string `json:"state"`
}

// Run sets a hold.
func (c *holdSetCmd) Run(a *command.App) error {
	now := time.Now()
	until, err := timeOf("--until", c.Until, now)
	switch {
	case err != nil:
		return err
	case len(c.Node)+len(c.Subject) == 0:
		return command.Usagef("name at least one transaction with --node, or a subject with --subject")
	case c.Reason == "":
		return command.Usagef("--reason is absent: say why, in at most 1024 bytes")
	case !until.IsZero() && !until.After(now):
		return command.Usagef("--until is %s, which has passed", until.Format(time.RFC3339))
	}
	err = cmp.Or(c.Node.check("--node", lethe.ValidID, lethe.IDForm),
		c.Subject.check("--subject", lethe.ValidSubject, lethe.SubjectForm))
	if err != nil {
		return err
	}
	hold := ingest.Hold{Name: c.Name, Reason: c.Reason, Subjects: c.Subject, Until: until, RequestedAt: now}
	for _, id := range c.Node {
		hold.Transactions = append(hold.Transactions, lethe.TransactionID(id))
	}
	if hold.Name == "" {
		if hold.Name, err = requests.NewHoldName(rand.Reader); err != nil {
			return err
		}
	}
	if err := holdRefusal(hold); err != nil {
		return command.Usage(err)
	}
	var h deletions.Hold
	err = c.answered(a, func(ctx context.Context, topics *requests.Signing) (err error) {
		h, err = requests.SetHold(ctx, topics, hold)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON || h.TooLate == 0 {
		if err := printHold(a, h, c.JSON); err != nil {
			return err
		}
	}
	if h.TooLate > 0 {
		return fmt.Errorf("hold %s is in force, but too late for %d of %d of what it names: "+
			"they were erased, or are being erased", h.Name, h.TooLate, len(h.Targets))
	}
	return nil
}

// holdRefusal returns why lethe would reject a hold, before anything is published, in terms of the
// flags.
func holdRefusal(hold ingest.Hold) error {
	_, _, err := ingest.EncodeHold(hold)
	request := lethe.ErasureRequest{RequestID: hold.Name, Targets: hold.Targets()}
	if err == nil && deletions.NamesTarget(request) {
		return errors.New("--name: it holds an id that is to be held, and names are kept")
	}
	var refused *ingest.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	flag := map[ingest.Reason]string{
		ingest.BadRequestID: "--name", ingest.BadReasonText: "--reason",
		ingest.BadSubject: "--subject",
	}[refused.Reason]
	return fmt.Errorf("%s: %s", cmp.Or(flag, "--node"), refused.Detail)
}

type holdLiftCmd struct {
	signedFlags
	Name string `arg:"" help:"Name of the hold."`
}

// Help shows an example.
func (holdLiftCmd) Help() string { return "Example:\n  lethe hold lift case-7" }

// Run lifts a hold.
func (c *holdLiftCmd) Run(a *command.App) error {
	var h deletions.Hold
	err := c.answered(a, func(ctx context.Context, topics *requests.Signing) (err error) {
		h, err = requests.LiftHold(ctx, topics, c.Name, time.Now())
		return err
	})
	if err != nil {
		return err
	}
	return printHold(a, h, c.JSON)
}

type holdListCmd struct {
	brokerFlags
	statusFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (holdListCmd) Help() string { return "Example:\n  lethe hold list --json" }

// Run lists every hold.
func (c *holdListCmd) Run(a *command.App) error {
	all, err := answer(a, c.brokerFlags, c.statusFlags, requests.Holds)
	if err != nil {
		return err
	}
	list := []heldBy{}
	rows := [][]string{{"hold", "state", "transactions", "subjects", "too late", "set", "until"}}
	for _, h := range all {
		one := heldBy{h, h.State(time.Now())}
		list = append(list, one)
		rows = append(rows, []string{
			h.Name, one.State, strconv.Itoa(len(h.Targets) - len(h.Subjects)), strconv.Itoa(len(h.Subjects)),
			strconv.Itoa(h.TooLate),
			h.SetAt.Format(time.DateTime), untilText(h),
		})
	}
	if c.JSON {
		return a.PrintJSON(list)
	}
	return command.Table(a.Stdout, rows)
}

func untilText(h deletions.Hold) string {
	if h.Until.IsZero() {
		return "it is lifted"
	}
	return h.Until.Format(time.DateTime)
}

func printHold(a *command.App, h deletions.Hold, asJSON bool) error {
	one := heldBy{h, h.State(time.Now())}
	return a.Print(asJSON, one, "hold %s: %s (transactions %d, subjects %d, until %s)\n", h.Name, one.State,
		len(h.Targets)-len(h.Subjects), len(h.Subjects), untilText(h))
}

// timeOf parses a point in time: a day, which ends with its last second in UTC, RFC 3339, or a duration from
// now. An empty text is the zero time.
func timeOf(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if after, err := time.ParseDuration(text); err == nil {
		return now.Add(after).UTC().Truncate(time.Second), nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1).Add(-time.Second), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, command.Usagef("%s is %q, want a date such as 2026-12-24 (the end of that day, UTC), an RFC 3339 "+
			"time such as 2026-12-24T00:00:00Z, or a duration such as 72h", flag, text)
	}
	return at.UTC().Truncate(time.Millisecond), nil
}
