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
	if b.Whole {
		err = b.label(ctx, client, draws)
	}
	return payload, err
}

// label writes a label of every second transaction, and that the labels of all timesteps are there.
func (b *benchmark) label(ctx context.Context, client *bus.Client, draws *rand.Rand) error {
	var records []ingest.Outgoing
	for n := 0; n < b.Transactions; n += 2 {
		label := lethe.Licit
		if draws.IntN(10) == 0 {
			label = lethe.Illicit
		}
		tr := lethe.LabelRecord{ID: idOf(n), Timestep: b.timestepOf(n), Label: label}
		key, value, err := ingest.EncodeLabel(tr)
		if err != nil {
			return err
		}
		records = append(records, ingest.Outgoing{Key: key, Value: value})
	}
	if err := client.Write(ctx, bus.Labels, records); err != nil {
		return err
	}
	partitions, err := client.Partitions(ctx, bus.Labels)
	if err != nil {
		return err
	}
	records = nil
	for t := lethe.Timestep(1); t <= b.timestepOf(b.Transactions-1); t++ {
		for p := range partitions {
			key, value := ingest.EncodeSettle(t, p)
			records = append(records, ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: p})
		}
	}
	return client.Write(ctx, bus.Labels, records)
}

func idOf(n int) lethe.TransactionID { return lethe.TransactionID(fmt.Sprintf("transaction-%09d", n)) }

func (b *benchmark) timestepOf(n int) lethe.Timestep { return lethe.Timestep(1 + n/b.PerTimestep) }

// transaction is the n-th one: values of six digits, half of them negative.
func (b *benchmark) transaction(draws *rand.Rand, n int) lethe.Transaction {
	features := make([]float32, b.Features)
	for i := range features {
		const digits = 1e6
		features[i] = float32(draws.IntN(2*digits)-digits) / digits
	}
	return lethe.Transaction{ID: idOf(n), Timestep: b.timestepOf(n), Features: features}
}
