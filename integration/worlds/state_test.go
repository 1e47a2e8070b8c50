package worlds

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/train"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// state is what a deployment has published and stored in the end.
type state struct {
	graphs    map[lethe.Timestep]wire.Message
	manifests map[lethe.Timestep]*wire.Manifest
	// revisions are those of the manifests.
	revisions map[lethe.Timestep]lethe.Revision
	slices    map[place]*lethe.Slice
	// models are by their numbers in place of a shard's, metas by timestep; stored are the
	// models that train keeps.
	models map[place]*trainer.Checkpoint
	stored []map[place]*trainer.Checkpoint
	metas  map[lethe.Timestep]*meta.Model
	// letters are dead letters as text, reason and original bytes, in order, by their key.
	letters     map[string][]string
	predictions map[lethe.TransactionID]scoring.Prediction
	// later are the predictions that were made since an erasure was swapped last.
	later  map[lethe.TransactionID]scoring.Prediction
	status *role.Status
	// standing are the statuses of processes that stand by, by role.
	standing map[string][]*role.Status
	// doubled are predictions of which there was another one, and what else the log and its witness saw.
	doubled []string
	// knowing are the requests that were sent when every record before them had been read.
	knowing map[string]bool
	// absent are the roles of which a process had not begun as a request was sent.
	absent map[string]map[string]bool
	// rebuilt says that all graphs were made again.
	rebuilt bool
	// receipts are those in files, checked, by request.
	receipts map[string]receipt.Receipt
	// taken counts the records that were taken from topics, by what became of them.
	taken map[string]int
	// states are those of the requests, ledger all that is noted of them.
	states map[string]deletions.State
	ledger []deletions.Entry
	// logged are the slices that log.v1 commits to.
	logged map[place]lethe.Digest
	// sentBehind and over are what stood as requests were sent, and as they were verified.
	sentBehind, over map[string]obstacles
}

// place is a shard at a timestep.
type place struct {
	timestep lethe.Timestep
	shard    lethe.ShardID
}

// read compacts the topics and reads what is left.
func (d *deployment) read(ctx context.Context) (*state, error) {
	if err := d.topics.Compact(); err != nil {
		return nil, err
	}
	s := &state{
		graphs: make(map[lethe.Timestep]wire.Message), manifests: make(map[lethe.Timestep]*wire.Manifest),
		revisions: make(map[lethe.Timestep]lethe.Revision),
		slices:    make(map[place]*lethe.Slice), models: make(map[place]*trainer.Checkpoint),
		metas:       make(map[lethe.Timestep]*meta.Model),
		letters:     make(map[string][]string),
		predictions: make(map[lethe.TransactionID]scoring.Prediction), later: d.topics.log.predictions,
		taken: d.taken, knowing: d.topics.log.knowing, absent: d.topics.log.absent, rebuilt: d.topics.log.rebuilt,
		sentBehind: d.topics.log.sentBehind, over: d.topics.log.over,
	}
	for _, topic := range []bus.Topic{bus.Snapshots, bus.Slices, bus.Models} {
		if err := s.messages(ctx, d, topic); err != nil {
			return nil, err
		}
	}
	if err := s.store(d); err != nil {
		return nil, err
	}
	err := d.topics.ReadAll(ctx, bus.DeadLetters, func(rec ingest.Record) error {
		if isOf(rec, bus.Erasures) || isOfUnreadable(rec) {
			return nil // the world without the targets has no requests, and no batch that nobody can read
		}
		key := string(rec.Key)
		s.letters[key] = append(s.letters[key], letterText(rec))
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = d.topics.ReadAll(ctx, bus.Predictions, func(rec ingest.Record) error {
		p, given, err := predictionOf(rec)
		if given {
			s.predictions[p.Transaction] = p
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s.status, s.standing = d.known(), d.standing()
	s.doubled = slices.Concat(d.topics.log.doubled, d.topics.log.witness.faults)
	folder, err := d.ledReceipts()
	if err != nil {
		return nil, err
	}
	if s.receipts, err = readReceipts(folder); err != nil {
		return nil, err
	}
	if s.ledger, err = d.ledger(); err != nil {
		return nil, err
	}
	if s.logged, err = d.logged(ctx); err != nil {
		return nil, err
	}
	if err := d.told(ctx, s); err != nil {
		return nil, err
	}
	statuses, err := d.statuses(ctx)
	s.states = make(map[string]deletions.State)
	for id, status := range statuses {
		s.states[id] = status.State
	}
	return s, err
}

// store reads the checkpoints that train keeps, from a copy of its files.
func (s *state) store(d *deployment) error {
	files := d.disk.memory.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	for _, folder := range d.crew.folders() {
		stored, err := d.storedIn(files, folder)
		if err != nil {
			return err
		}
		s.stored = append(s.stored, stored)
	}
	return nil
}

// storedIn reads the checkpoints that a trainer keeps.
func (d *deployment) storedIn(files vfs.FS, folder string) (map[place]*trainer.Checkpoint, error) {
	stored := make(map[place]*trainer.Checkpoint)
	for shard := range lethe.ShardID(shards) {
		h, err := train.ReadHistory(files, folder, shard)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for component, learnt := range h.Learnt {
			if component == train.Meta {
				continue
			}
			number := d.models.layout.ModelsOf(shard)[component]
			for t, data := range learnt {
				if stored[place{t, number}], err = trainer.DecodeCheckpoint(data); err != nil {
					return nil, err
				}
			}
		}
	}
	return stored, nil
}

// letterKeys are the keys of dead letters, in order, each as often as there is one.
func (s *state) letterKeys(but map[string]bool) (keys []string) {
	for key, list := range s.letters {
		if but[key] {
			continue
		}
		keys = append(keys, slices.Repeat([]string{key}, len(list))...)
	}
	slices.Sort(keys)
	return keys
}

// lettersBut are the dead letters but for those with some keys.
func (s *state) lettersBut(keys map[string]bool) (texts []string) {
	for key, list := range s.letters {
		if !keys[key] {
			texts = append(texts, list...)
		}
	}
	slices.Sort(texts)
	return texts
}

// isOf reports whether a dead letter is of a topic.
func isOf(rec ingest.Record, topic bus.Topic) bool {
	return slices.ContainsFunc(rec.Headers, func(h ingest.Header) bool {
		return h.Key == "lethe.dlq.topic" && strings.HasSuffix(string(h.Value), string(topic))
	})
}

// letterText is a dead letter without the place where the record stood, which is
// another in another world.
func letterText(rec ingest.Record) string {
	var reason, detail string
	for _, h := range rec.Headers {
		switch h.Key {
		case "lethe.dlq.reason":
			reason = string(h.Value)
		case "lethe.dlq.detail":
			detail = string(h.Value)
		}
	}
	return fmt.Sprintf("%s (%s): %q", reason, detail, rec.Value)
}

func (s *state) messages(ctx context.Context, d *deployment, topic bus.Topic) error {
	reader := wire.NewReader()
	return d.topics.ReadAll(ctx, topic, func(rec ingest.Record) error {
		source := bus.TopicPartition{Topic: topic, Partition: rec.Partition}
		received, err := reader.Read(bus.Batch{Source: source, Records: []ingest.Record{rec}, Next: rec.Offset + 1})
		for _, m := range received {
			at := place{m.Key.Timestep, m.Key.Shard}
			switch m.Key.Kind {
			case wire.KindSnapshot:
				s.graphs[m.Key.Timestep] = m.Message
			case wire.KindManifest:
				s.revisions[m.Key.Timestep] = m.Revision
				s.manifests[m.Key.Timestep], err = wire.DecodeManifest(m.Payload)
			case wire.KindSlice:
				s.slices[at], err = canonical.DecodeSlice(m.Payload)
			case wire.KindModel:
				if d.models.over != nil && int(m.Key.Shard) == d.models.layout.Models() {
					s.metas[m.Key.Timestep], err = meta.Decode(m.Payload)
				} else {
					s.models[at], err = trainer.DecodeCheckpoint(m.Payload)
				}
			}
			if err != nil {
				return err
			}
		}
		return err
	})
}
