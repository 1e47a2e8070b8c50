package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// writtenTogether is how many records are sent at a time.
const writtenTogether = 5000

// fill creates the topics and writes the transactions. It returns the bytes of their keys and
// values.
func (b *benchmark) fill(ctx context.Context) (payload int64, err error) {
	client, err := bus.Open(b.config())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	if err := client.Admin().Apply(ctx); err != nil {
		return 0, err
	}
	encoding, err := ingest.ParseEncoding(b.Format, 1)
	if err != nil {
		return 0, err
	}
	draws := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // data, no secret
	for sent := 0; sent < b.Transactions; {
		records := make([]ingest.Outgoing, min(writtenTogether, b.Transactions-sent))
		for i := range records {
			records[i].Key, records[i].Value, err = encoding.Transaction(b.transaction(draws, sent))
			if err != nil {
				return 0, err
			}
			payload += int64(len(records[i].Key) + len(records[i].Value))
			sent++
		}
		if err := client.Write(ctx, bus.Transactions, records); err != nil {
			return 0, err
		}
	}
	return payload, nil
}

// transaction is the n-th one: values of six digits, half of them negative.
func (b *benchmark) transaction(draws *rand.Rand, n int) lethe.Transaction {
	features := make([]float32, b.Features)
	for i := range features {
		const digits = 1e6
		features[i] = float32(draws.IntN(2*digits)-digits) / digits
	}
	return lethe.Transaction{
		ID: lethe.TransactionID(fmt.Sprintf("transaction-%09d", n)), Timestep: lethe.Timestep(1 + n/b.PerTimestep),
		Features: features,
	}
}
