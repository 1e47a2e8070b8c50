package backups

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/record"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/normalise"
)

const (
	// mostTargets bounds a request, which is one record.
	mostTargets = 500
	// mostNames bounds the names of a record that are combined as payments.
	mostNames = 32
)

// again returns requests for everything erased that the backup holds, ordered by hash. The ledger has keyed hashes
// only, so everything that may be a name is hashed and compared.
func (d Deployment) again(ctx context.Context, r Restored) ([]lethe.ErasureRequest, error) {
	s := search{secret: d.Secret, rule: d.Rule, found: make(map[lethe.Digest]lethe.Target), seen: make(map[string]bool)}
	if err := s.know(d.Ledger); err != nil || len(s.erased) == 0 {
		return nil, err
	}
	if err := d.Names(func(id lethe.TransactionID) { s.name(string(id)) }); err != nil {
		return nil, err
	}
	for _, topic := range []bus.Topic{bus.Transactions, bus.Labels, bus.Predictions, bus.Reasons, bus.DeadLetters} {
		err := d.Bus.ReadEvery(ctx, topic, func(rec ingest.Record) error {
			s.record(rec, topic == bus.DeadLetters)
			return nil
		}, func(*bus.Gap) {}) // the search of every request reports unreadable batches
		if err != nil {
			return nil, fmt.Errorf("%s: %w", topic, err)
		}
	}
	byReach := make(map[reach][]lethe.Target)
	for _, hash := range slices.SortedFunc(maps.Keys(s.found), record.CompareDigests) {
		t := s.found[hash]
		at := reach{s.erased[hash], t.Until}
		byReach[at] = append(byReach[at], t)
	}
	var out []lethe.ErasureRequest
	for _, at := range slices.SortedFunc(maps.Keys(byReach), reach.compare) {
		for part := range slices.Chunk(byReach[at], mostTargets) {
			out = append(out, lethe.ErasureRequest{
				RequestID: fmt.Sprint(r.Prefix(), len(out)), Scope: at.scope, Targets: part,
				Reason: "a backup was put back",
			})
		}
	}
	return out, nil
}

// Prefix begins the ids of the requests made at the restore.
func (r Restored) Prefix() string { return fmt.Sprintf("restored-%d-", r.At.UnixMilli()) }

// Published counts those of the requests still in erasures.v1.
func (r Restored) Published(ctx context.Context, topics interface {
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
},
) (int, error) {
	there := make(map[string]bool)
	err := topics.ReadAll(ctx, bus.Erasures, func(rec ingest.Record) error {
		if id := string(rec.Key); strings.HasPrefix(id, r.Prefix()) {
			if there[id] = true; rec.Tombstone() {
				delete(there, id)
			}
		}
		return nil
	})
	return len(there), err
}

// reach are the common properties of the targets of one request.
type reach struct {
	scope lethe.Scope
	until lethe.Timestep
}

func (r reach) compare(other reach) int {
	return cmp.Or(cmp.Compare(r.scope, other.scope), cmp.Compare(r.until, other.until))
}

// know reads the ledger: erased targets and carriers with the widest scope, subjects with their last timestep,
// whether there are payments, and the columns of erased features.
func (s *search) know(ledger *deletions.Ledger) error {
	list, err := ledger.List()
	s.erased, s.subjects = make(map[lethe.Digest]lethe.Scope), make(map[lethe.Digest]lethe.Timestep)
	for _, e := range list {
		if !e.Suppresses() {
			continue
		}
		s.payments = s.payments || len(e.Progress.Carried) > 0
		for _, target := range e.Suppressed() {
			if before, found := s.erased[target]; !found || wider(e.Scope, before) {
				s.erased[target] = e.Scope
			}
		}
		for _, u := range e.Subjects {
			if before, found := s.subjects[u.Target]; !found || u.Until > before {
				s.subjects[u.Target] = u.Until
			}
		}
		for _, o := range e.Progress.Outcomes {
			s.payments = s.payments || o.Kind == lethe.PaymentTarget
			known := func(c lethe.Columns) bool { return slices.Equal(c, o.Columns) }
			if o.Kind == lethe.FeaturesTarget && !slices.ContainsFunc(s.columns, known) {
				s.columns = append(s.columns, o.Columns)
			}
		}
	}
	return err
}

func wider(a, b lethe.Scope) bool {
	order := []lethe.Scope{lethe.ScopeShard, lethe.ScopeStubs, lethe.ScopePartition}
	return cmp.Compare(slices.Index(order, a), slices.Index(order, b)) > 0
}

// search compares names with the erased targets.
type search struct {
	rule     normalise.Rule
	secret   lethe.Secret
	erased   map[lethe.Digest]lethe.Scope
	payments bool
	// subjects are the erased subjects, columns the distinct erased columns.
	subjects map[lethe.Digest]lethe.Timestep
	columns  []lethe.Columns
	found    map[lethe.Digest]lethe.Target
	seen     map[string]bool
}

func (s *search) compare(t lethe.Target) {
	hash := s.secret.Suppressed(t)
	if _, is := s.erased[hash]; is {
		s.found[hash] = t
	}
}

// name compares a text with ids and subjects.
func (s *search) name(text string) {
	text = s.rule.Name(text)
	if text != "" && !s.seen[text] {
		s.seen[text] = true
		s.compare(lethe.Target{Kind: lethe.TransactionTarget, Transaction: lethe.TransactionID(text)})
		if until, is := s.until(text); is {
			s.compare(lethe.SubjectThrough(text, until))
		}
		for _, columns := range s.columns {
			s.compare(lethe.FeaturesOf(lethe.TransactionID(text), columns...))
		}
	}
}

// record compares everything in a record that may be a name; in a refused one also words outside strings.
func (s *search) record(rec ingest.Record, refused bool) {
	names := []string{string(rec.Key)}
	if source, target, is := bytes.Cut(rec.Key, []byte(">")); is {
		names = append(names, string(source), string(target))
		s.payment(string(source), string(target))
	}
	for _, part := range rec.Parts() {
		texts, words := scan.Texts(part)
		if names = append(names, texts...); refused {
			names = append(names, words...)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		s.name(name)
	}
	if !s.payments || len(names) > mostNames {
		return
	}
	for _, source := range names {
		for _, target := range names {
			s.payment(source, target)
		}
	}
}

func (s *search) payment(source, target string) {
	source, target = s.rule.Name(source), s.rule.Name(target)
	if s.payments && source != "" && target != "" && source != target {
		s.compare(lethe.PaymentBetween(lethe.TransactionID(source), lethe.TransactionID(target)))
	}
}

// until returns the last timestep of an erased subject.
func (s *search) until(name string) (until lethe.Timestep, is bool) {
	if len(s.subjects) > 0 {
		until, is = s.subjects[s.secret.SuppressedSubject(name)]
	}
	return until, is
}
