package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/pipeline/wire"
	"lethe/service"
)

// checkBroker reads the embedded broker's log as any consumer would. It checks that sealed records
// carry valid codes, that graphs of all closed timesteps, the copy of the ledger and the receipts
// are present, that reasons add up, and that nothing erased is left, in any spelling. With another
// broker there is nothing in the directory to check.
func (inv *inventory) checkBroker(ctx context.Context, r *Report) (err error) {
	if !inv.config.UsesEmbeddedBroker() {
		return checkLog(ctx, inv, r, nil)
	}
	dir := service.BrokerDir(inv.config.DataDir)
	if _, err := os.Stat(dir); err != nil {
		r.problem("the broker's log %s is missing: put it back from a copy", dir)
		return nil //nolint:nilerr // it is reported as a problem
	}
	return withLog(inv.config, func(client *bus.Client) error {
		for _, check := range []func(context.Context, *bus.Client, *Report) error{
			inv.checkEnds, codesOf(inv), inv.checkPublishedGraphs, inv.checkLedgerCopy, inv.checkPublishedReceipts, checkReasons,
			inv.searchTopics, publishedLogOf(inv),
		} {
			err := check(ctx, client, r)
			if errors.Is(err, bus.ErrUnknownTopic) {
				r.problem("the broker's log %s: %v", dir, err)
			} else if err != nil {
				return err
			}
		}
		return nil
	})
}

// withLog opens the embedded broker's log of a data directory, as any consumer would read it.
func withLog(c configs.Config, fn func(*bus.Client) error) (err error) {
	dir := service.BrokerDir(c.DataDir)
	broker, err := embedded.Start(dir, embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		return fmt.Errorf("the broker's log: %w", err)
	}
	defer func() { err = errors.Join(err, broker.Close()) }()
	config := c.Kafka
	config.Brokers, config.ErasureRetention = broker.Config().Brokers, broker.Config().ErasureRetention
	client, err := bus.Open(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return fn(client)
}

// publishedLogOf checks the transparency log, and compares it with its topic.
func publishedLogOf(inv *inventory) func(context.Context, *bus.Client, *Report) error {
	return func(ctx context.Context, client *bus.Client, r *Report) error {
		published, err := translog.ReadPublished(ctx, client)
		switch {
		case errors.Is(err, bus.ErrUnknownTopic):
			return errors.Join(err, checkLog(ctx, inv, r, nil))
		case err != nil:
			return err
		}
		return checkLog(ctx, inv, r, &published)
	}
}

// checkEnds checks that no partition of the log ends before the position that a role has read:
// otherwise its end was lost, or the log was replaced by an older one.
func (inv *inventory) checkEnds(ctx context.Context, client *bus.Client, r *Report) error {
	read := maps.Clone(inv.next)
	note := func(tp bus.TopicPartition, next int64) { read[tp] = max(read[tp], next) }
	for tp, next := range inv.served.Next {
		note(tp, next)
	}
	for _, h := range inv.columns {
		note(bus.TopicPartition{Topic: bus.Slices, Partition: wire.PartitionOf(h.Shard, inv.config.Kafka.Partitions)}, h.Next)
	}
	for _, topic := range bus.Topics() {
		ends, err := client.EndOffsets(ctx, topic)
		if err != nil {
			return err
		}
		for p, end := range ends {
			if tp := (bus.TopicPartition{Topic: topic, Partition: p}); read[tp] > end {
				r.problem("%s ends at %d in the broker's log, but was read up to %d: put the log and the data directory back "+
					"from copies of one time", tp, end, read[tp])
			}
		}
	}
	return nil
}

// checkPublishedGraphs checks that the graph of every closed timestep is in its topic.
func (inv *inventory) checkPublishedGraphs(ctx context.Context, client *bus.Client, r *Report) error {
	// A graph that has shrunk has fewer chunks: the surplus ones are deleted by later records.
	chunks := make(map[string]lethe.Timestep)
	err := client.ReadAll(ctx, bus.Snapshots, func(rec ingest.Record) error {
		base := string(rec.Key)[:max(0, strings.LastIndexByte(string(rec.Key), '/'))]
		if key, err := wire.ParseKey(base); err == nil && key.Kind == wire.KindSnapshot {
			if chunks[string(rec.Key)] = key.Timestep; rec.Tombstone() {
				delete(chunks, string(rec.Key))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	published := make(map[lethe.Timestep]bool)
	for _, t := range chunks {
		published[t] = true
	}
	for _, step := range inv.steps {
		if t := step.Info.Timestep; !published[t] {
			r.problem("timestep %d: its graph is not in %s", t, bus.Snapshots)
		}
	}
	return nil
}

// checkLedgerCopy compares the ledger with its copy in the topic. Entries from before copies
// existed are copied at the next start.
func (inv *inventory) checkLedgerCopy(ctx context.Context, client *bus.Client, r *Report) error {
	kept, err := ledgercopy.Read(ctx, client)
	if err != nil {
		return err
	}
	known := make(map[string]bool)
	for _, e := range inv.entries {
		known[e.RequestID] = true
		copied := kept.Entries[e.RequestID].State == e.State && !kept.Withdrawn[e.RequestID]
		if !copied {
			r.problem("request %s: its copy in %s is missing or old: start lethe run, which writes it again",
				e.RequestID, bus.Control)
		}
	}
	for _, id := range kept.CarriedOut {
		if !known[id] {
			r.problem("request %s was carried out, says %s, but the ledger does not know it", id, bus.ErasureStatus)
		}
	}
	return nil
}

// checkPublishedReceipts compares the receipts with those in their topic.
func (inv *inventory) checkPublishedReceipts(ctx context.Context, client *bus.Client, r *Report) error {
	published := make(map[string][]byte)
	err := client.ReadAll(ctx, bus.Receipts, func(rec ingest.Record) error {
		published[string(rec.Key)] = bytes.Clone(rec.Value)
		return nil
	})
	if err != nil {
		return err
	}
	for _, e := range inv.done {
		kept, known := inv.receipts[e.RequestID]
		if known && !bytes.Equal(kept, published[e.RequestID]) {
			r.problem("request %s: its receipt in %s is missing or another", e.RequestID, bus.Receipts)
		}
	}
	return nil
}

// searchTopics searches the content of records for erased data. Their bytes are searched with the
// other files.
func (inv *inventory) searchTopics(ctx context.Context, client *bus.Client, r *Report) error {
	scanner, err := inv.scanner()
	if err != nil || scanner == nil {
		return err
	}
	search := topicSearch{inv, r, scanner}
	for _, topic := range []bus.Topic{bus.Transactions, bus.Labels, bus.Erasures, bus.DeadLetters, bus.Reasons} {
		if err := search.in(ctx, client, topic); err != nil {
			return err
		}
	}
	return nil
}

// topicSearch searches topics for erased data.
type topicSearch struct {
	*inventory
	r       *Report
	scanner *scan.Scanner
}

// in searches a topic. Records of open requests may name their targets.
func (s topicSearch) in(ctx context.Context, client *bus.Client, topic bus.Topic) error {
	err := client.ReadAll(ctx, topic, func(rec ingest.Record) error {
		s.r.Records++
		hits := search.Found(s.scanner, rec)
		if topic == bus.Erasures && s.isOpen(string(rec.Key)) {
			s.namedByOpen = s.namedByOpen || len(hits) > 0
			return nil
		}
		for _, hit := range hits {
			s.r.problem("%s/%d@%d holds the %s of an erased record", topic, rec.Partition, rec.Offset, hit.Kind)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.r.Topics++
	return nil
}

// isOpen reports whether a request has yet to be carried out, for which its record is needed.
func (s topicSearch) isOpen(requestID string) bool {
	return slices.ContainsFunc(s.entries, func(e deletions.Entry) bool {
		return e.RequestID == requestID && !e.State.Final() && !e.Progress.Withdrawn
	})
}

// scanner returns a scanner for everything that was erased, nil if nothing was.
func (inv *inventory) scanner() (*scan.Scanner, error) {
	var prints []scan.Fingerprint
	for _, e := range inv.done {
		prints = append(prints, e.Progress.Fingerprints...)
	}
	if len(prints) == 0 {
		return nil, nil
	}
	return scan.NewRecordScanner(inv.secret, inv.config.Ingest.Records.Normalise, prints)
}
