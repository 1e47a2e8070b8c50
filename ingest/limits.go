package ingest

import (
	"math"

	"lethe/internal/check"
	"lethe/internal/normalise"
)

// AnyFeatureCount as Limits.FeatureCount accepts any number of features up to
// MaxFeatureCount; the first accepted transaction then fixes the number, which the caller
// must store.
const AnyFeatureCount = 0

// AnySchema as Limits.SchemaID accepts binary records of all schemas.
const AnySchema = 0

// largestMagnitude is small enough that the sum of the squares of a million features fits
// in float32.
const largestMagnitude = 1e12

// MaxSubjects bounds the subjects of one transaction or payment.
const MaxSubjects = 16

// Limits bounds the accepted records.
type Limits struct {
	// FeatureCount is the number of features of every transaction, or
	// AnyFeatureCount.
	FeatureCount int `yaml:"-"`
	// MaxFeatureCount bounds the features of one transaction.
	MaxFeatureCount int `yaml:"-"`
	// MaxRecordBytes bounds key, value and headers together.
	MaxRecordBytes int `yaml:"max_record_bytes" help:"Bound of key, value and headers of one record together."`
	// MaxMagnitude bounds the absolute value of a feature. Training sums squares of
	// features in float32, and codes for "missing" such as the largest float32 would
	// make weights infinite.
	MaxMagnitude float64 `yaml:"max_magnitude" help:"Bound of a feature's absolute value; larger ones are dead letters."`
	// SchemaID is the id of the schema of binary records in their producers' registry, or
	// AnySchema. In either case records are decoded with lethe's own schema.
	SchemaID int `yaml:"schema_id" help:"Schema id that Protobuf records must have; 0: any."`
	// Normalise lists the steps that bring ids and subjects into one form, in all records and
	// requests. It cannot change during the life of a deployment: names are stored in that form.
	Normalise []string `yaml:"normalise" help:"Steps that make spellings of a name one: nfc, casefold, trim, digits."`
	// MaxErasureNodes bounds the nodes of one request.
	MaxErasureNodes int `yaml:"-"`
}

// DefaultLimits leaves room for the broker's framing under its own limit of 1 MiB.
func DefaultLimits() Limits {
	return Limits{
		MaxFeatureCount: 4096, MaxRecordBytes: 1_000_000, MaxMagnitude: 1e6, MaxErasureNodes: 1000,
		Normalise: []string{normalise.NFC},
	}
}

// Validate reports every limit that is out of range.
func (l Limits) Validate() error {
	var p check.Problems
	p.Whole("max_record_bytes", l.MaxRecordBytes, 1000, 100_000_000)
	p.Above("max_magnitude", l.MaxMagnitude, 0, largestMagnitude)
	p.Whole("schema_id", l.SchemaID, AnySchema, math.MaxInt32)
	p.Each("normalise", "step", l.Normalise, normalise.Steps()...)
	p.AtLeast("max_feature_count", l.MaxFeatureCount, 1)
	p.Whole("feature_count", l.FeatureCount, AnyFeatureCount, l.MaxFeatureCount)
	p.AtLeast("max_erasure_nodes", l.MaxErasureNodes, 1)
	return p.Err()
}
