package service

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"slices"
	"strings"
	"time"

	"lethe/configs"
	"lethe/internal/kms"
	"lethe/internal/sleep"
	"lethe/service/supervisor"
)

// unsealing is the service in the phase in which it reads its keys.
type unsealing struct{ *Service }

// load reads the keys, or creates them at the first start of a data directory.
func (s unsealing) load(ctx context.Context) error {
	store, err := configs.KeysOf(s.config).Store()
	if err != nil {
		return err
	}
	if s.secret, err = store.LoadOrCreateSecret(ctx, s.config.SecretPath(), s.o.Random); err != nil {
		return err
	}
	if s.key, err = store.LoadOrCreateSigningKey(ctx, s.config.SigningKeyPath(), s.o.Random); err != nil {
		return err
	}
	// After the keys: with it the directory is one that was begun.
	s.instance, err = configs.LoadOrCreateInstance(s.config.DataDir, s.o.Random)
	return err
}

// The pauses between attempts to reach a key management system, at first and at most.
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 15 * time.Second
)

// open unseals the keys with a key management system. It waits without limit for one that is
// unreachable, and /readyz reports it. The unsealed keys stay in memory: the process does not need
// the system again.
func (s unsealing) open(ctx context.Context) (supervisor.Process, error) {
	began := s.o.Now()
	for retry := firstRetry; ; retry = min(2*retry, lastRetry) {
		err := s.load(ctx)
		switch {
		case err == nil:
			s.health.Set(keysModule, true, "")
			s.o.Logger.Info("the keys are unsealed", "after", s.o.Now().Sub(began).Round(time.Millisecond))
			return supervisor.Resource(nil), nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, kms.ErrAway):
			return nil, err
		}
		s.health.Set(keysModule, false, err.Error())
		s.o.Logger.Warn("waiting for the key management system", "error", err)
		if err := sleep.For(ctx, retry); err != nil {
			return nil, err
		}
	}
}

// keys are the deployment's public keys, if this process has them: the newest first.
func (s *Service) keys() []ed25519.PublicKey {
	known, err := configs.ReadPublicKeys(configs.PublicKeyPath(s.config.SigningKeyPath()))
	if err != nil {
		return nil // another process signs
	}
	return known
}

// namesSetting is the setting for the normalisation of names: names are stored in normal form. A deployment keeps
// the rule that it was created with.
const namesSetting = "ingest.normalise"

// ruleOf returns a rule of names as text.
func ruleOf(steps []string) string {
	return cmp.Or(strings.Join(slices.Sorted(slices.Values(steps)), " "), "[]")
}
