package main

import (
	"context"
	"fmt"
	"slices"

	"lethe/ingest/bus"
	"lethe/internal/command"
	"lethe/pipeline/requests"
)

// statusFlags select the key whose statuses are accepted.
type statusFlags struct {
	PublicKey []string `help:"Key that must have signed statuses and holds. Repeatable." type:"path" placeholder:"FILE"`
	DataDir   string   `help:"Data directory with the pinned public key." placeholder:"DIR"`
}

// unchecked are the topics of a client for which no key is known.
type unchecked struct {
	requests.Bus
	hint string
}

// believed returns the topics of a client with only the statuses that the deployment has signed, if its
// key is given by a flag, or pinned by the configuration.
func (f statusFlags) believed(a *command.App, config string, client *bus.Client) (requests.Bus, error) {
	trust, hint, err := trustFlags{PublicKey: f.PublicKey, Config: config, DataDir: f.DataDir}.trust(a)
	if err != nil {
		return nil, err
	}
	if hint != "" {
		return unchecked{client, hint}, nil
	}
	return requests.SignedBy(client, slices.Concat(trust.Keys, trust.Former)...), nil
}

// answer queries the statuses that the keys have signed, and warns if signatures were not checked or records ignored.
func answer[T any](
	a *command.App, brokers brokerFlags, keys statusFlags, question func(context.Context, requests.Bus) (T, error),
) (out T, err error) {
	client, err := brokers.open(a)
	if err != nil {
		return out, err
	}
	defer client.Close()
	topics, err := keys.believed(a, brokers.Config, client)
	if err != nil {
		return out, err
	}
	out, err = question(a.Context, topics)
	if keys.unsigned(a, topics); err == nil {
		keys.caveat(a, topics)
	}
	return out, err
}

// caveat warns if the result was not checked.
func (statusFlags) caveat(a *command.App, topics requests.Bus) {
	if not, is := topics.(unchecked); is {
		fmt.Fprintf(a.Stderr, "lethe: the signatures of statuses and holds are not checked: %s\n", not.hint)
	}
}

// unsigned reports for how many requests and holds an unsigned record was ignored.
func (statusFlags) unsigned(a *command.App, topics requests.Bus) {
	if signed, is := topics.(*requests.Signed); is && signed.Unsigned() > 0 {
		fmt.Fprintf(a.Stderr, "lethe: statuses of %d requests or holds were ignored: no known key has signed them "+
			"(they are forged, of another deployment, or of a version that signed none)\n", signed.Unsigned())
	}
}
