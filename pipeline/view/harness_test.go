package view_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/leakcheck"
	"lethe/internal/precedence"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/view"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/scoring/reasons"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

var secret = lethe.Secret{7}

// rig is a view over topics and files in memory, with those who write the topics.
type rig struct {
	t       *testing.T
	topics  *roletest.Bus
	disk    vfs.FS
	role    *role.Follower
	reader  *view.Reader
	session *roletest.Session
	// first is what the role gives way to.
	first precedence.Rule
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, topics: roletest.NewBus(map[bus.Topic]int{bus.Predictions: 2}), disk: vfs.NewMem()}
	r.start()
	t.Cleanup(r.stop)
	return r
}

func (r *rig) start() {
	around := role.Around(r.topics, nil, slog.New(slog.DiscardHandler))
	around.FS, around.First = r.disk, &r.first
	var err error
	r.role, r.reader, err = view.New(view.Options{Dir: "/view", Secret: secret, Instance: "1", Surroundings: around})
	require.NoError(r.t, err)
	r.session, err = roletest.Begin(r.t.Context(), r.role)
	require.NoError(r.t, err)
}

func (r *rig) stop() {
	if r.role == nil {
		return
	}
	require.NoError(r.t, r.session.Close())
	require.NoError(r.t, r.role.Close())
	r.role = nil
}

// settle lets the role read all that is there, and time pass.
func (r *rig) settle() {
	r.read()
	require.NoError(r.t, r.session.Tick(r.t.Context()))
}

// read lets the role read all that is there.
func (r *rig) read() {
	for had := true; had; {
		var err error
		had, err = r.session.Poll(r.t.Context())
		require.NoError(r.t, err)
	}
}

func (r *rig) write(topic bus.Topic, records ...ingest.Outgoing) {
	require.NoError(r.t, r.topics.Write(r.t.Context(), topic, records))
	r.settle()
}

// predicted publishes predictions.
func (r *rig) predicted(list ...*scoring.Prediction) {
	var records []ingest.Outgoing
	for _, p := range list {
		value, err := scoring.EncodePrediction(p)
		require.NoError(r.t, err)
		records = append(records, ingest.Outgoing{Key: ingest.TransactionKey(p.Transaction), Value: value})
	}
	r.write(bus.Predictions, records...)
}

func predictionOf(id lethe.TransactionID, t lethe.Timestep, probability float64) *scoring.Prediction {
	p := &scoring.Prediction{
		Transaction: id, Timestep: t, Probability: probability, Threshold: .5, Final: true,
		EnsembleVersion: scoring.EnsembleVersion([]lethe.Digest{{1}}), TrainedThrough: t - 1, Aggregation: scoring.MethodMean,
	}
	p.Class = scoring.Classify(p.Probability, p.Threshold)
	p.ID = scoring.PredictionID(secret, p, lethe.Digest{4})
	return p
}

// explained publishes the reasons of an alert, which name others that paid it.
func (r *rig) explained(id lethe.TransactionID, t lethe.Timestep, others ...lethe.TransactionID) {
	record := reasons.Record{
		Transaction: id, Timestep: t, EnsembleVersion: lethe.Digest{1}, TrainedThrough: t - 1,
		Components: []reasons.Component{{Model: "gin", Groups: 1}},
	}
	for _, other := range others {
		record.Components[0].Reasons = append(record.Components[0].Reasons, reasons.Reason{
			Code: reasons.Payment, Transaction: other, Direction: "in", Contribution: .5,
		})
	}
	value, err := record.Encode()
	require.NoError(r.t, err)
	r.write(bus.Reasons, ingest.Outgoing{Key: ingest.TransactionKey(id), Value: value})
}

// ids are those of the transactions of a timestep.
func ids(t lethe.Timestep, n int) (out []lethe.TransactionID) {
	for i := range n {
		out = append(out, lethe.TransactionID(fmt.Sprintf("transaction-%d-%d", t, i)))
	}
	return out
}

// graph publishes the graph of a timestep, in which each pays the next one of those named. The
// labels are those of a manifest, none while the timestep is not settled.
func (r *rig) graph(
	t lethe.Timestep, revision lethe.Revision, labels map[lethe.TransactionID]lethe.Label, members ...lethe.TransactionID,
) {
	s := &lethe.Snapshot{Timestep: t, FeatureCount: 1}
	for _, id := range members {
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{ID: id, Pseudonym: secret.Pseudonym(id)})
		s.Features = append(s.Features, 1)
	}
	slices.SortFunc(s.Nodes, func(a, b lethe.SnapshotNode) int { return a.Pseudonym.Compare(b.Pseudonym) })
	at := func(id lethe.TransactionID) uint32 {
		i, _ := s.Find(secret.Pseudonym(id))
		return uint32(i)
	}
	for i := 1; i < len(members); i++ {
		s.Payments = append(s.Payments, lethe.Arc{Source: at(members[i-1]), Target: at(members[i])})
	}
	slices.SortFunc(s.Payments, lethe.Arc.Compare)
	messages := []wire.Message{{
		Key: wire.Key{Kind: wire.KindSnapshot, Timestep: t}, Revision: revision, Previous: t - 1,
		Payload: canonical.EncodeSnapshot(s),
	}}
	if labels != nil {
		m := wire.Manifest{Timestep: t, Previous: t - 1, Slices: []lethe.Digest{{1}, {2}}}
		for _, n := range s.Nodes {
			if label, known := labels[n.ID]; known {
				m.Labels = append(m.Labels, wire.NodeLabel{Pseudonym: n.Pseudonym, Label: label})
			}
		}
		messages = append(messages, wire.Message{
			Key: wire.Key{Kind: wire.KindManifest, Timestep: t}, Revision: revision, Payload: m.Encode(),
		})
	}
	require.NoError(r.t, wire.Publish(r.t.Context(), r.topics, 1, messages...))
	r.settle()
}

// command has the coordinator ask something.
func (r *rig) command(phase wire.Phase, attempt int, steps []wire.CommandStep, gone ...lethe.TransactionID) {
	c := &wire.Command{
		RequestID: "gdpr-1", Attempt: attempt, Phase: phase, SecretCheck: wire.SecretCheck(secret), Steps: steps,
	}
	for _, id := range gone {
		c.Suppressed = append(c.Suppressed, secret.Suppression(id))
		prints, err := scan.TransactionFingerprints(secret, id)
		require.NoError(r.t, err)
		c.Fingerprints = append(c.Fingerprints, prints...)
	}
	records, err := c.Records()
	require.NoError(r.t, err)
	r.write(bus.Control, records...)
}

// reached has the coordinator say how far the request has come.
func (r *rig) reached(state deletions.State) {
	entry, err := deletions.NewEntry(secret, lethe.ErasureRequest{
		RequestID: "gdpr-1", Targets: lethe.Transactions("anybody"),
	}, time.Unix(1, 0))
	require.NoError(r.t, err)
	entry.State = state
	status := entry.Status()
	switch state {
	case deletions.Failed:
		status.Failure, status.FailedIn = deletions.FailedHits, deletions.Erased
	case deletions.Rejected:
		status.Failure = deletions.RejectedRestored
	default:
	}
	value, err := status.Encode()
	require.NoError(r.t, err)
	r.write(bus.ErasureStatus, ingest.Outgoing{Key: []byte(status.Key()), Value: value})
}

// acknowledged are the steps that the role has said are done, with the hits of their searches.
func (r *rig) acknowledged() map[string]int {
	out := make(map[string]int)
	for _, ack := range r.answers() {
		require.Equal(r.t, "view", ack.Role)
		hits := 0
		if ack.Scan != nil {
			require.Positive(r.t, ack.Scan.Files)
			hits = ack.Scan.Hits
		}
		out[stepOf(ack)] = hits
	}
	return out
}

// stepOf names the step and the attempt of an answer.
func stepOf(ack deletions.Ack) string { return fmt.Sprintf("%s %d", ack.Step, ack.Attempt) }

// answers are all answers that the role has given, the earliest first.
func (r *rig) answers() (out []deletions.Ack) {
	for _, n := range roletest.Notices(r.t, r.topics) {
		if n.Ack != nil {
			out = append(out, *n.Ack)
		}
	}
	return out
}

// list walks through all pages of a query.
func (r *rig) list(q view.Query) (out []string) {
	q.Most = 1
	for {
		page, next, err := r.reader.Predictions(q)
		require.NoError(r.t, err)
		for _, p := range page {
			out = append(out, fmt.Sprintf("%s %v", p.Transaction, p.Probability))
		}
		if next == nil {
			return out
		}
		q.After = next
	}
}

// holds reports whether some bytes are in a file of the role.
func (r *rig) holds(what string) bool { return len(r.places(what)) > 0 }

func encoded(t *testing.T, p *scoring.Prediction) []byte {
	value, err := scoring.EncodePrediction(p)
	require.NoError(t, err)
	return value
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
