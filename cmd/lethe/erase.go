package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/internal/command"
	"lethe/pipeline/requests"
)

type eraseCmd struct {
	Submit  eraseSubmitCmd  `cmd:"" help:"Submit a request to erase transactions, payments, features or subjects."`
	Plan    erasePlanCmd    `cmd:"" help:"Preview what an erasure would change, and how long it would take."`
	Status  eraseStatusCmd  `cmd:"" help:"Show the state of a request."`
	List    eraseListCmd    `cmd:"" help:"List all requests."`
	Cancel  eraseCancelCmd  `cmd:"" help:"Cancel a request before anything is rewritten."`
	Approve eraseApproveCmd `cmd:"" help:"Sign another person's request, where two signatures are required."`
}

// Help shows an example.
func (eraseCmd) Help() string {
	return "Example:\n  lethe erase submit --node 230007682 --wait\n  lethe erase list"
}

type eraseSubmitCmd struct {
	Node      names         `help:"Transaction to erase. Repeatable." placeholder:"ID"`
	Edge      names         `help:"Payment to erase; its transactions stay. Repeatable." placeholder:"A>B"`
	Feature   []string      `help:"Set features of this transaction to 0. Repeatable." placeholder:"ID[>0,7]" sep:"none"`
	Subject   names         `help:"Key of a subject to erase. Repeatable." placeholder:"KEY"`
	Until     int64         `help:"Last timestep of --subject; by default the newest." default:"-1" placeholder:"T"`
	Deadline  string        `help:"When it should be verified: a date, RFC 3339, or a duration (72h)." placeholder:"T"`
	Scope     string        `help:"How far it reaches: ${scopes}; by default erasure.default_scope." placeholder:"SCOPE"`
	Reason    string        `help:"Reason; only its keyed hash is stored." placeholder:"TEXT"`
	RequestID string        `help:"Id of the request; generated if absent." placeholder:"ID"`
	Wait      bool          `help:"Wait until the request is verified, rejected, cancelled or held."`
	Timeout   time.Duration `help:"How long --wait waits." default:"10m"`
	signFlags
	statusFlags
	brokerFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (eraseSubmitCmd) Help() string {
	return `Example:
  lethe erase submit --node 230007682 --reason "GDPR Art. 17" --wait
  lethe erase submit --edge '230007682>230007703' --wait
  lethe erase submit --feature 230007682 --wait
  lethe erase submit --feature '230007682>0,7' --wait    # the first and the eighth feature
  lethe erase submit --subject customer-17 --until 49 --wait

Scope stubs rewrites the slice of the transaction and every slice that holds a stub of it. Scope
shard rewrites only its own slice, as in the paper. Scope partition partitions the timestep again,
so that everything is as if the transaction had never existed. The receipt states what may remain. A
request without a scope gets the deployment's, erasure.default_scope, when it is read; its scope is
empty in the document that --json prints before.

Where requests must be signed (signatures.requests), give --sign: without it nothing is submitted and the
exit status is 1. A request that lacks a signature waits for lethe erase approve.

With --wait the exit status is 0 once the request is verified, 1 if it is rejected, cancelled or held,
and 3 if it is verified and none of its targets existed: most often an id is misspelt. Commas and
semicolons separate several ids of --node, --edge and --subject; in double quotes "a,b" is one id, and
"" one double quote.

Requests with the earliest deadline are processed first. A request whose deadline has passed is
still processed, and its status says overdue. A date means the end of that day, UTC.`
}

// Run publishes the request.
func (c *eraseSubmitCmd) Run(a *command.App) error {
	if err := c.check(); err != nil {
		return err
	}
	id := c.RequestID
	if id == "" {
		var err error
		if id, err = requests.NewID(rand.Reader); err != nil {
			return err
		}
	}
	now := time.Now()
	deadline, err := timeOf("--deadline", c.Deadline, now)
	if err != nil {
		return err
	}
	request, err := requests.Sealed(lethe.ErasureRequest{
		RequestID: id, Targets: c.targets(), Scope: lethe.Scope(c.Scope), Reason: c.Reason,
		Deadline: deadline,
	}, rand.Reader)
	if err != nil {
		return err
	}
	if err := refusal(request, now); err != nil {
		return command.Usage(err)
	}
	client, err := c.open(a)
	if err != nil {
		return err
	}
	defer client.Close()
	believed, err := c.believed(a, c.Config, client)
	if err != nil {
		return err
	}
	topics, err := c.topics(believed, client)
	if err != nil {
		return err
	}
	// Queried first: without a required signature nothing is published that would be rejected.
	signers, err := topics.Signers(a.Context)
	if err != nil {
		return err
	}
	submitted, err := requests.Submit(a.Context, topics, request, now)
	if err != nil {
		return explained(err)
	}
	if c.Wait {
		return c.wait(a, client, submitted, request)
	}
	return c.printPublished(a, submitted, request, signers)
}

// refusal returns why lethe would reject the request, before anything is published. It names flags
// and never repeats an id.
func refusal(request lethe.ErasureRequest, at time.Time) error {
	if err := lethe.CheckTargets(request.Targets); err != nil {
		return err
	}
	_, _, err := ingest.EncodeErasure(request, at)
	if err == nil && deletions.NamesTarget(request) {
		return errors.New("--request-id: it holds an id that is to be erased, and request ids are kept")
	}
	var refused *ingest.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	flag := map[ingest.Reason]string{
		ingest.BadRequestID: "--request-id", ingest.BadReasonText: "--reason",
		ingest.BadColumn: "--feature", ingest.BadTime: "--deadline",
	}[refused.Reason]
	return fmt.Errorf("%s: %s", cmp.Or(flag, "--node, --edge, --feature, --subject"), refused.Detail)
}

// targets are the targets in the flags.
func (c *eraseSubmitCmd) targets() []lethe.Target {
	var out []lethe.Target
	for _, node := range c.Node {
		out = append(out, lethe.Transactions(lethe.TransactionID(node))...)
	}
	for _, edge := range c.Edge {
		source, target, _ := strings.Cut(edge, ">")
		out = append(out, lethe.PaymentBetween(lethe.TransactionID(source), lethe.TransactionID(target)))
	}
	for _, id := range c.Feature {
		target, _ := ingest.FeaturesIn(id)
		out = append(out, target)
	}
	for _, subject := range c.Subject {
		out = append(out, lethe.SubjectThrough(subject, lethe.Timestep(c.Until)))
	}
	return out
}

// check rejects invalid combinations of flags.
func (c *eraseSubmitCmd) check() error {
	for i, edge := range c.Edge {
		source, target, joined := strings.Cut(edge, ">")
		if !joined || source == target || !lethe.ValidID(source) || !lethe.ValidID(target) {
			return command.Usagef("--edge number %d is not of the form A>B, with the ids of two transactions", i+1)
		}
	}
	for i, features := range c.Feature {
		if _, err := ingest.FeaturesIn(features); err != nil {
			return command.Usagef("--feature number %d is %s", i+1, err)
		}
	}
	switch {
	case c.Timeout <= 0:
		return command.Usagef("--timeout is %s: give a positive duration, such as 10m", c.Timeout)
	case c.Scope != "" && !slices.Contains(lethe.SupportedScopes(), c.Scope):
		return command.Usagef("--scope is %s: want one of %s", c.Scope, strings.Join(lethe.SupportedScopes(), ", "))
	case len(c.targets()) == 0:
		return command.Usagef("name at least one target with --node, --edge, --feature or --subject")
	}
	return cmp.Or(c.Subject.checkUntil(c.Until), c.Node.check("--node", lethe.ValidID, lethe.IDForm),
		c.Subject.check("--subject", lethe.ValidSubject, lethe.SubjectForm))
}

type eraseStatusCmd struct {
	brokerFlags
	statusFlags
	RequestID string `arg:"" help:"Name of the request, or 8 digits of its digest."`
	JSON      bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (eraseStatusCmd) Help() string {
	return `Example:
  lethe erase status gdpr-17
  lethe erase status 1aef0d49

A name may have been given to several requests. At most one of them is carried out, and the others
are rejected with request_id_conflict: all are shown then, and the exit status is 1 unless every
one is verified. The digest, or at least its first 8 digits, names one request.`
}

// Run shows one request.
func (c *eraseStatusCmd) Run(a *command.App) error {
	find := func(ctx context.Context, b requests.Bus) ([]deletions.Status, error) {
		return requests.Find(ctx, b, c.RequestID)
	}
	list, err := answer(a, c.brokerFlags, c.statusFlags, find)
	if err != nil {
		return printFound(a, deletions.Status{}, err, c.JSON)
	}
	if err := printNamed(a, list, c.JSON); err != nil || c.JSON {
		return err
	}
	for _, s := range list {
		c.printSigners(a, s)
	}
	return nil
}

// listedDigits is the number of a digest's digits in a list.
const listedDigits = 12

type eraseListCmd struct {
	brokerFlags
	statusFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (eraseListCmd) Help() string { return "Example:\n  lethe erase list --json" }

// Run lists every request.
func (c *eraseListCmd) Run(a *command.App) error {
	all, err := answer(a, c.brokerFlags, c.statusFlags, requests.List)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(deletions.Reports(all))
	}
	rows := [][]string{{"request", "state", "scope", "targets", "slices", "shards", "received", "updated", "digest"}}
	for _, s := range all {
		rows = append(rows, []string{
			s.RequestID, s.Summary(), string(s.Scope), strconv.Itoa(s.Counts.Targets), strconv.Itoa(s.Counts.Slices),
			strconv.Itoa(s.Counts.Shards), s.ReceivedAt.Format(time.DateTime), s.UpdatedAt.Format(time.DateTime),
			s.RequestDigest.String()[:listedDigits],
		})
	}
	return command.Table(a.Stdout, rows)
}
