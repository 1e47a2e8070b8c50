package main

import (
	"crypto"
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe/configs"
	"lethe/deletions"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/internal/command"
	"lethe/pipeline/requests"
)

// signFlags say with which keys a command signs what it says of requests.
type signFlags struct {
	Sign  []string      `help:"Private key to sign with; repeatable." type:"path" placeholder:"FILE"`
	Valid time.Duration `help:"How long the signatures count." default:"168h"`
}

// topics are those of a client, to which is written signed.
func (f signFlags) topics(topics requests.Bus, client *bus.Client) (*requests.Signing, error) {
	if f.Valid <= 0 {
		return nil, command.Usagef("--valid is %s, want more than 0s", f.Valid)
	}
	keys, err := signingKeys(f.Sign)
	return requests.SignedWith(topics, authority.Signer{
		Keys: keys, Topic: client.Name(bus.Erasures), At: time.Now(), Valid: f.Valid,
	}), err
}

// signingKeys reads private keys.
func signingKeys(paths []string) (keys []crypto.Signer, err error) {
	for _, path := range paths {
		key, err := configs.ReadSigningKey(path)
		if err != nil {
			return nil, fmt.Errorf("--sign: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// explained says what to do about an error of signatures.
func explained(err error) error {
	if errors.Is(err, requests.ErrUnsigned) {
		return fmt.Errorf("%w: add --sign KEY, a key of the role compliance", err)
	}
	if answer := requests.Answer(err); answer != nil {
		return answer // where it was read is nobody's concern
	}
	return err
}

// unfinished says what a held request waits for.
func unfinished(s deletions.Status) string {
	held := slices.ContainsFunc(s.Outcomes, func(o deletions.TargetOutcome) bool {
		return o.Outcome == deletions.OutcomeHeld
	})
	if !held && len(s.SignedBy) > 0 {
		return "somebody else has to sign it too (lethe erase approve " + s.RequestID + ")"
	}
	return "it goes on once no hold names its targets (lethe hold list)"
}

// signedBothWays are the topics with what the deployment has signed, and those to which is written signed.
func signedBothWays(
	a *command.App, brokers brokerFlags, sign signFlags, status statusFlags, client *bus.Client,
) (believed requests.Bus, topics *requests.Signing, err error) {
	if believed, err = status.believed(a, brokers.Config, client); err != nil {
		return nil, nil, err
	}
	topics, err = sign.topics(believed, client)
	return believed, topics, err
}
