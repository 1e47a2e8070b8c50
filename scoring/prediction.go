package scoring

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"lethe"
	"lethe/canonical"
	"lethe/internal/check"
)

// Prediction is one scored transaction; it is published to the predictions topic with the
// transaction's id as key.
type Prediction struct {
	// ID is PredictionID: it is the same on every replay, so that a consumer can drop duplicates.
	ID          string              `json:"id"`
	Transaction lethe.TransactionID `json:"transaction"`
	Timestep    lethe.Timestep      `json:"timestep"`
	// Probability is that of illicit, in [0, 1].
	Probability float64 `json:"probability"`
	// Class is "illicit" if Probability >= Threshold, else "licit".
	Class     string  `json:"class"`
	Threshold float64 `json:"threshold"`
	// EnsembleVersion identifies the models that made the prediction.
	EnsembleVersion lethe.Digest `json:"ensemble_version"`
	// TrainedThrough is the last timestep that the models learned from.
	TrainedThrough lethe.Timestep `json:"trained_through"`
	// Aggregation names how shards were weighted, see AggregationName.
	Aggregation string `json:"aggregation"`
	// Late means that the transaction arrived after its timestep had been scored. It was scored by
	// the ensemble served then, which may have learned from its timestep and later ones, and is
	// excluded from all quality measures.
	Late bool `json:"late,omitempty"`
	// Final is false for a provisional prediction: it was made from the arrived part of an open timestep, and the final
	// one follows under the same key when the timestep closes. It is excluded from all quality measures.
	Final bool `json:"final"`
}

// Classify returns the class name for a probability of illicit.
func Classify(probability, threshold float64) string {
	if probability >= threshold {
		return lethe.Illicit.String()
	}
	return lethe.Licit.String()
}

// EnsembleVersion identifies an ensemble: SHA-256 of its shards' checkpoint digests, concatenated
// in shard order. A shard without a checkpoint has the zero digest.
func EnsembleVersion(checkpointDigests []lethe.Digest) lethe.Digest {
	all := make([]byte, 0, len(checkpointDigests)*len(lethe.Digest{}))
	for _, d := range checkpointDigests {
		all = append(all, d[:]...)
	}
	return canonical.DigestOf(all)
}

// GraphDigest identifies the part of a snapshot that models see: nodes, features and payments, but not labels nor the
// revision. A label that arrives between two replays therefore changes no prediction's id, and an erasure or a late
// record changes it.
func GraphDigest(s *lethe.Snapshot) lethe.Digest {
	unlabelled := *s
	unlabelled.Nodes = make([]lethe.SnapshotNode, len(s.Nodes))
	for i, n := range s.Nodes {
		n.Label = lethe.Unknown
		unlabelled.Nodes[i] = n
	}
	return canonical.DigestSnapshot(&unlabelled)
}

// PredictionID returns the hexadecimal keyed hash of everything that determines a prediction's
// content: transaction, timestep, graph, ensemble, training horizon, aggregation, threshold and
// whether it was late. So it is equal on every replay and differs whenever the content could. The
// graph's digest is only used in the id: published on its own it would be a trace of erased records.
//
// The probability is excluded on purpose: if it ever differed for one id, that must be visible and not
// hidden by a second id. In a provisional prediction it takes the place of the graph, which changes
// constantly, and the given graph is ignored: scoring the same neighbourhood by the same ensemble
// again gives the same id.
func PredictionID(secret lethe.Secret, p *Prediction, graph lethe.Digest) string {
	return NewPredictionIDs(secret).Of(p, graph)
}

// PredictionIDs computes the ids of PredictionID faster. It is not safe for concurrent use.
type PredictionIDs struct{ hasher lethe.Hasher }

// NewPredictionIDs returns PredictionIDs for a secret.
func NewPredictionIDs(secret lethe.Secret) PredictionIDs {
	return PredictionIDs{secret.Hasher("prediction")}
}

// Of returns PredictionID.
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

// Validate reports every invalid field. The error does not repeat the id of the transaction.
func (p *Prediction) Validate() error {
	var found check.Problems
	var id lethe.Digest
	found.That(id.UnmarshalText([]byte(p.ID)) == nil, "id", withheld{}, "a hash in hexadecimal")
	// JSON would silently replace invalid UTF-8, and two transactions would become one.
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

// withheld replaces, in messages, a value that may identify a person's transaction.
type withheld struct{}

// String implements fmt.Stringer.
func (withheld) String() string { return "not shown" }
