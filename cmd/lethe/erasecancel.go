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
	RequestID     string `arg:"" help:"Id of the request."`
	RequestDigest string `help:"Cancel the request only if it has this digest." placeholder:"HEX"`
}

// Help shows an example.
func (eraseCancelCmd) Help() string {
	return `Example:
  lethe erase cancel gdpr-17

A request can be cancelled until its state is rewriting. Once it is cancelled, its transactions are
accepted and scored again, unless another request names them. Records of them that arrived in the
meantime were dropped: send them again. The request id cannot be used again.`
}

// Run cancels a request.
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

// requestDigest parses --request-digest; an empty text is the zero digest.
func requestDigest(text string) (digest lethe.Digest, err error) {
	if text == "" {
		return digest, nil
	}
	if err := digest.UnmarshalText([]byte(text)); err != nil || digest.IsZero() {
		return digest, command.Usagef("--request-digest: want 64 hexadecimal digits 0-9 a-f, found %d characters", len(text))
	}
	return digest, nil
}
