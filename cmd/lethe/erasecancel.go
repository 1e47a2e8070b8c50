package main

import (
	"context"
	"time"

	"lethe"
	"lethe/internal/command"
	"lethe/pipeline/requests"
)

type eraseCancelCmd struct {
	brokerFlags
	signFlags
	statusFlags
	RequestID     string        `arg:"" help:"The request."`
	RequestDigest string        `help:"Cancel it only if it has this digest." placeholder:"HEX"`
	Timeout       time.Duration `help:"How long to wait for the answer." default:"1m"`
	JSON          bool          `help:"Print one JSON document."`
}

// Help shows an example.
func (eraseCancelCmd) Help() string {
	return `Example:
  lethe erase cancel gdpr-17

A request can be taken back until it is rewriting. Its transactions are taken and scored
again from then on, unless another request names them. Records that came in for them
meanwhile were dropped: send them again. The request id stays taken.`
}

// Run takes a request back.
func (c *eraseCancelCmd) Run(a *command.App) error {
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
	believed, topics, err := signedBothWays(a, c.brokerFlags, c.signFlags, c.statusFlags, client)
	if err != nil {
		return err
	}
	s, err := requests.Cancel(ctx, topics, c.RequestID, digest, time.Now())
	c.unsigned(a, believed)
	if err == nil {
		c.caveat(a, believed)
	}
	return printFound(a, s, explained(err), c.JSON)
}

// requestDigest reads --request-digest, of which none is the digest of 0.
func requestDigest(text string) (digest lethe.Digest, err error) {
	if text == "" {
		return digest, nil
	}
	if err := digest.UnmarshalText([]byte(text)); err != nil || digest.IsZero() {
		return digest, command.Usagef("--request-digest: want 64 hexadecimal digits 0-9 a-f, found %d characters", len(text))
	}
	return digest, nil
}
