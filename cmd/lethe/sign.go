package main

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"strings"
	"time"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/internal/command"
	"lethe/pipeline/requests"
)

// signFlags select the keys with which a command signs records about requests.
type signFlags struct {
	Sign  []string      `help:"Private key to sign with. Repeatable." type:"path" placeholder:"FILE"`
	Valid time.Duration `help:"How long the signatures are valid." default:"168h"`
}

// topics returns the topics of a client, with signed writes.
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

// explained adds the remedy to an error of signatures.
func explained(err error) error {
	if errors.Is(err, requests.ErrUnsigned) {
		return fmt.Errorf("%w: add --sign KEY, a key of the role compliance", err)
	}
	if answer := requests.Answer(err); answer != nil {
		return answer // the user does not need its position in the topic
	}
	return err
}

// unfinished describes the cause that a held request waits for.
func unfinished(s deletions.Status) string {
	if s.AwaitsSignature() {
		return s.Headline() + " (lethe erase approve " + s.RequestID + " --sign KEY)"
	}
	return s.Headline() + " (it continues when no hold names its targets: lethe hold list)"
}

// signedFlags are those of a command that publishes a signed record, and waits for the result.
type signedFlags struct {
	brokerFlags
	signFlags
	statusFlags
	Timeout time.Duration `help:"How long to wait for confirmation." default:"1m"`
	JSON    bool          `help:"Print one JSON document."`
}

// answered calls publish, which waits for the result, and reports how far that was verified.
func (f signedFlags) answered(
	a *command.App, publish func(ctx context.Context, topics *requests.Signing) error,
) error {
	client, err := f.open(a)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(a.Context, f.Timeout)
	defer cancel()
	believed, err := f.believed(a, f.Config, client)
	if err != nil {
		return err
	}
	topics, err := f.topics(believed, client)
	if err != nil {
		return err
	}
	err = publish(ctx, topics)
	f.unsigned(a, believed)
	if err != nil {
		return explained(err)
	}
	f.caveat(a, believed)
	return nil
}

// printPublished prints that a request was published, and whether it lacks signatures.
func (c *eraseSubmitCmd) printPublished(
	a *command.App, submitted requests.Submitted, r lethe.ErasureRequest, signers int,
) error {
	lacks := len(c.Sign) < signers
	if c.JSON {
		out := map[string]any{"request_id": r.RequestID, "state": "submitted", "scope": r.Scope,
			"request_digest": submitted.Digest, "nonce": r.Nonce}
		if lacks {
			out["waits_for"] = deletions.WaitsFor{
				Signatures: &deletions.WaitsForSignatures{Given: len(c.Sign), Needed: signers},
			}
		}
		return a.PrintJSON(out)
	}
	fmt.Fprintf(a.Stdout, "submitted request %s; follow it with: lethe erase status %s\n", r.RequestID, submitted.Digest)
	if lacks {
		fmt.Fprintf(a.Stdout, "it is not carried out before another person of the role compliance signs it: "+
			"lethe erase approve %s --sign KEY\n", submitted.Digest)
	}
	return nil
}

// printSigners prints the signers of a waiting request, and the people who may sign it, by name if the configuration
// names the deployment's file of keys.
func (f brokerFlags) printSigners(a *command.App, s deletions.Status) {
	if !s.AwaitsSignature() {
		return
	}
	config, err := command.ConfigFlags{Config: f.Config, Brokers: f.Brokers, Set: f.Set}.Load(a, nil)
	var policy authority.Policy
	if err == nil && config.Signatures.KeysFile != "" {
		policy, err = configs.LoadAuthority(config.Signatures)
	}
	signed, others := policy.Signers(s.SignedBy)
	if err != nil || len(signed) == 0 {
		fmt.Fprintln(a.Stdout, "  one more person of the role compliance must sign "+
			"(names: --config with signatures.keys_file)")
		return
	}
	fmt.Fprintf(a.Stdout, "  signed by %s; one more must sign: %s\n",
		strings.Join(signed, ", "), strings.Join(others, ", "))
}
