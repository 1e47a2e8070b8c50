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

// sender writes the transactions one after the other, and their labels.
type sender struct {
	*benchmark
	client   *bus.Client
	encoding ingest.Encoding
	draws    *rand.Rand
	sent     int
	// payload are the bytes of keys and values of transactions so far.
	payload int64
}

// withSender creates the topics, and calls fn with what writes into them.
func (b *benchmark) withSender(ctx context.Context, fn func(s *sender) error) (payload int64, err error) {
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
	s := &sender{benchmark: b, client: client, encoding: encoding, draws: draws}
	err = fn(s)
	return s.payload, err
}

// fill writes the transactions, and the labels if they are wanted. It returns the bytes of the keys and values of the
// transactions.
func (b *benchmark) fill(ctx context.Context) (payload int64, err error) {
	return b.withSender(ctx, func(s *sender) error {
		for s.sent < b.Transactions {
			if err := s.send(ctx, writtenTogether); err != nil {
				return err
			}
		}
		if b.Whole {
			return s.label(ctx, 0, b.Transactions)
		}
		return nil
	})
}

// send writes the next transactions, as many as there are.
func (s *sender) send(ctx context.Context, count int) (err error) {
	records := make([]ingest.Outgoing, min(count, s.Transactions-s.sent))
	for i := range records {
		r := &records[i]
		if r.Key, r.Value, err = s.encoding.Transaction(s.transaction(s.draws, s.sent)); err != nil {
			return err
		}
		s.payload += int64(len(r.Key) + len(r.Value))
		s.sent++
	}
	return s.client.Write(ctx, bus.Transactions, records)
}

// label writes a label of every second transaction from one up to another, and that the labels of their timesteps are
// there.
func (s *sender) label(ctx context.Context, from, to int) error {
	var records []ingest.Outgoing
	for n := from; n < to; n += 2 {
		label := lethe.Licit
		if s.draws.IntN(10) == 0 {
			label = lethe.Illicit
		}
		key, value, err := ingest.EncodeLabel(lethe.LabelRecord{ID: idOf(n), Timestep: s.timestepOf(n), Label: label})
		if err != nil {
			return err
		}
		records = append(records, ingest.Outgoing{Key: key, Value: value})
	}
	if err := s.client.Write(ctx, bus.Labels, records); err != nil {
		return err
	}
	partitions, err := s.client.Partitions(ctx, bus.Labels)
	if err != nil {
		return err
	}
	records = nil
	for t := s.timestepOf(from); t <= s.timestepOf(to-1); t++ {
		for p := range partitions {
			key, value := ingest.EncodeSettle(t, p)
			records = append(records, ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: p})
		}
	}
	return s.client.Write(ctx, bus.Labels, records)
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
