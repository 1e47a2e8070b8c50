package main

import (
	"context"
	"fmt"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/internal/command"
	"lethe/pipeline/requests"
)

type eraseApproveCmd struct {
	brokerFlags
	statusFlags
	signFlags
	RequestID     string        `arg:"" help:"Id of the request."`
	RequestDigest string        `help:"Approve the request with this digest, without reading it." placeholder:"HEX"`
	Timeout       time.Duration `help:"How long to wait for confirmation." default:"1m"`
	JSON          bool          `help:"Print one JSON document."`
}

// Help shows an example.
func (eraseApproveCmd) Help() string {
	return `Example:
  lethe erase approve gdpr-17                    # shows the request and signs nothing
  lethe erase approve gdpr-17 --sign bert.pem

Where two people must sign an erasure (signatures.requests is 2), a request with one signature
stays in the state held until a second person of the role compliance signs it. With --request-digest
the request itself is not read: use it if the submitter gave you the digest.`
}

// Run shows the request, or signs it.
func (c *eraseApproveCmd) Run(a *command.App) error {
	digest, err := requestDigest(c.RequestDigest)
	if err != nil {
		return err
	}
	client, err := c.open(a)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(a.Context, c.Timeout)
	defer cancel()
	believed, err := c.believed(a, c.Config, client)
	if err != nil {
		return err
	}
	var status deletions.Status
	if digest.IsZero() {
		var request lethe.ErasureRequest
		if request, status, err = requests.Waiting(ctx, believed, c.RequestID); err != nil {
			return err
		}
		digest = status.RequestDigest
		if !c.JSON {
			showRequest(a, request, digest)
		}
	}
	if len(c.Sign) == 0 {
		if c.JSON {
			return a.PrintJSON(status)
		}
		fmt.Fprintln(a.Stderr, "lethe: nothing is signed: add --sign KEY")
		return nil
	}
	topics, err := c.topics(believed, client)
	if err != nil {
		return err
	}
	s, err := requests.Approve(ctx, topics, c.RequestID, digest, time.Now())
	return printFound(a, s, explained(err), c.JSON)
}

// showRequest prints the content of a request for its signer.
func showRequest(a *command.App, r lethe.ErasureRequest, digest lethe.Digest) {
	fmt.Fprintf(a.Stdout, "request %s (scope %s) asks to erase:\n", r.RequestID, r.Scope)
	for _, t := range r.Targets {
		switch t.Kind {
		case lethe.PaymentTarget:
			fmt.Fprintf(a.Stdout, "  payment %s\n", ingest.PaymentKey(t.Payment.Source, t.Payment.Target))
		case lethe.FeaturesTarget:
			fmt.Fprintf(a.Stdout, "  features %s of transaction %s\n", t.Columns, t.Transaction)
		case lethe.SubjectTarget:
			fmt.Fprintf(a.Stdout, "  subject %s\n", t.Subject)
		default:
			fmt.Fprintf(a.Stdout, "  transaction %s\n", t.Transaction)
		}
	}
	if r.Reason != "" {
		fmt.Fprintf(a.Stdout, "  because: %s\n", r.Reason)
	}
	fmt.Fprintf(a.Stdout, "  digest %s\n", digest)
}
