package intake

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
)

// stripping says what stays of every record.
type stripping struct {
	Suppression
	kept ingest.Remainder
}

func (stripping) Names(ingest.Record) (bool, error) { return false, nil }

func (s stripping) Strip(rec ingest.Record, _ bool) (ingest.Remainder, error) {
	s.kept.Record = rec
	return s.kept, nil
}

// A record that is refused is published again if one that it replaces was, and leaves its dead letter: only one that
// was cut leaves none. It left none, if it came between a record and the one that was published again for it.
func TestARefusedRecordThatIsPublishedAgainLeavesItsLetter(t *testing.T) {
	refusal := &ingest.Refusal{Reason: ingest.FeatureCount}
	for want, kept := range map[events.Result]ingest.Remainder{
		events.Refused: {Again: true}, events.Ignored: {Again: true, Cut: true},
	} {
		rec := ingest.Record{Topic: string(bus.Transactions), Key: []byte("t"), Value: []byte("{}")}
		d := &decoded{rec: rec, err: refusal}
		tx := taken{o: Options{Suppression: stripping{kept: kept}}}
		result, _, err := tx.apply(d)
		require.NoError(t, err)
		require.Equal(t, want, result)
		require.True(t, d.redacted)
	}
}
