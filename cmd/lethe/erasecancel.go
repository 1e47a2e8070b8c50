package main

import (
	"context"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/internal/command"
	"lethe/pipeline/requests"
)

type eraseCancelCmd struct {
	signedFlags
	RequestID     string `arg:"" help:"The request."`
	RequestDigest string `help:"Cancel it only if it has this digest." placeholder:"HEX"`
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
	var s deletions.Status
	err = c.answered(a, func(ctx context.Context, topics *requests.Signing) (err error) {
		s, err = requests.Cancel(ctx, topics, c.RequestID, digest, time.Now())
		return err
	})
	return printFound(a, s, err, c.JSON)
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
