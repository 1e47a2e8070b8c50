package scoring

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"lethe"
	"lethe/canonical"
	"lethe/internal/check"
)

// Prediction is one scored transaction, as it is written to the predictions
// topic under the transaction's id.
type Prediction struct {
	// ID is PredictionID: the same on every replay, so that a consumer can
	// drop repeats.
	ID          string              `json:"id"`
	Transaction lethe.TransactionID `json:"transaction"`
	Timestep    lethe.Timestep      `json:"timestep"`
	// Probability is that of illicit, in [0, 1].
	Probability float64 `json:"probability"`
	// Class is "illicit" if Probability >= Threshold, else "licit".
	Class     string  `json:"class"`
	Threshold float64 `json:"threshold"`
	// EnsembleVersion names the models that were asked.
	EnsembleVersion lethe.Digest `json:"ensemble_version"`
	// TrainedThrough is the last timestep the models learnt from.
	TrainedThrough lethe.Timestep `json:"trained_through"`
	// Aggregation names how shards were weighed, see AggregationName.
	Aggregation string `json:"aggregation"`
	// Late says that the transaction came when its timestep had been scored. It was
	// scored by the ensemble served then, which may have learnt from its timestep
	// and later ones, and counts in no quality figure.
	Late bool `json:"late,omitempty"`
	// Final is false for a provisional prediction: it was made of what had arrived of
	// an open timestep, and the final one follows under the same key when the timestep
	// closes. It counts in no quality figure.
	Final bool `json:"final"`
}

// Classify returns the class name for a probability of illicit.
func Classify(probability, threshold float64) string {
	if probability >= threshold {
		return lethe.Illicit.String()
	}
	return lethe.Licit.String()
}

// EnsembleVersion names an ensemble: SHA-256 of its shards' checkpoint digests,
// concatenated in shard order. A shard without a checkpoint has the zero
// digest.
func EnsembleVersion(checkpointDigests []lethe.Digest) lethe.Digest {
	all := make([]byte, 0, len(checkpointDigests)*len(lethe.Digest{}))
	for _, d := range checkpointDigests {
		all = append(all, d[:]...)
	}
	return canonical.DigestOf(all)
}

// GraphDigest names what the models see of a snapshot: nodes, features and
// payments, not labels and not the revision. A label that arrives between two
// replays therefore changes no prediction's id, and an erasure or a late record
// changes it.
func GraphDigest(s *lethe.Snapshot) lethe.Digest {
	unlabelled := *s
	unlabelled.Nodes = make([]lethe.SnapshotNode, len(s.Nodes))
	for i, n := range s.Nodes {
		n.Label = lethe.Unknown
		unlabelled.Nodes[i] = n
	}
	return canonical.DigestSnapshot(&unlabelled)
}

// PredictionID returns the hexadecimal keyed hash of all that decides a
// prediction's content: transaction, timestep, graph, ensemble, training
// horizon, aggregation, threshold and whether it came late. So it is equal on every replay and differs
// where the content could. The graph's digest enters the id only: published by
// itself it would be a trace of erased records.
//
// The probability is left out on purpose: if it ever differed for one id, that
// must show, not hide behind a second id. Of a provisional prediction it stands for the
// graph, which is that of a moment, and the graph given is not looked at: whoever scores
// the same neighbourhood by the same ensemble again gives it the same id.
func PredictionID(secret lethe.Secret, p *Prediction, graph lethe.Digest) string {
	return NewPredictionIDs(secret).Of(p, graph)
}

// PredictionIDs makes the ids of PredictionID, each in less time. It is for one goroutine at a time.
type PredictionIDs struct{ hasher lethe.Hasher }

// NewPredictionIDs returns what makes ids by a secret.
func NewPredictionIDs(secret lethe.Secret) PredictionIDs {
	return PredictionIDs{secret.Hasher("prediction")}
}

// Of is described with PredictionID.
func (ids PredictionIDs) Of(p *Prediction, graph lethe.Digest) string {
	number := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
	fields := [][]byte{
		[]byte(p.Transaction),
		number(uint64(p.Timestep)),
		graph[:],
		p.EnsembleVersion[:],
		number(uint64(p.TrainedThrough)),
		[]byte(p.Aggregation),
		number(math.Float64bits(p.Threshold)),
	}
	if p.Late {
		fields = append(fields, []byte("late"))
	}
	if !p.Final {
		fields[2] = number(math.Float64bits(p.Probability))
		fields = append(fields, []byte("provisional"))
	}
	return ids.hasher.Hash(fields...).String()
}

// Validate reports every field that cannot be right. The error does not repeat
// the id of the transaction.
func (p *Prediction) Validate() error {
	var found check.Problems
	var id lethe.Digest
	found.That(id.UnmarshalText([]byte(p.ID)) == nil, "id", withheld{}, "a hash in hexadecimal")
	// JSON would silently replace bytes that are no UTF-8, and two transactions
	// become one.
	found.That(utf8Text(string(p.Transaction)), "transaction", withheld{}, "UTF-8, not empty")
	found.AtLeast("timestep", int(p.Timestep), 0)
	found.Number("probability", p.Probability, 0, 1)
	found.Number("threshold", p.Threshold, 0, 1)
	found.That(p.Class == Classify(p.Probability, p.Threshold), "class", withheld{},
		"what probability %v and threshold %v give", p.Probability, p.Threshold)
	found.That(!p.EnsembleVersion.IsZero(), "ensemble_version", p.EnsembleVersion, "that of an ensemble")
	found.AtLeast("trained_through", int(p.TrainedThrough), int(lethe.NoTimestep))
	found.That(utf8Text(p.Aggregation), "aggregation", withheld{}, "UTF-8, not empty")
	return found.Err()
}

func utf8Text(text string) bool { return text != "" && utf8.ValidString(text) }

// withheld stands in messages for a value that may name a person's transaction.
type withheld struct{}

// String implements fmt.Stringer.
func (withheld) String() string { return "not shown" }
