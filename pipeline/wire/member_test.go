package wire_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/pipeline/wire"
)

// The transparency log repeats when a directory was struck off or replaced. What has no time that it could write is
// no such record, whoever signed it: it is passed over as any other that cannot be read.
func TestWhatHasNoTimeStrikesNobodyOff(t *testing.T) {
	zone := time.FixedZone("", -23*3600)
	for _, at := range []time.Time{{}, time.Time{}.Add(time.Microsecond), time.Date(9999, 12, 31, 23, 0, 0, 0, zone)} {
		record, err := wire.Strike{Role: "train", Identity: "1"}.Record()
		require.NoError(t, err)
		said, err := at.MarshalText()
		require.NoError(t, err)
		record.Value = []byte(`{"format":"lethe-strike/1","role":"train","identity":"1","at":"` + string(said) + `"}`)
		_, found, err := wire.ParseStrike(recordOf(record))
		require.False(t, found)
		require.ErrorContains(t, err, "want a time of the years 1970 to 9999")
		notice, err := wire.ParseNotice(recordOf(record))
		require.Error(t, err)
		require.Nil(t, notice.Strike)

		record, err = wire.Instance{Role: "view", Identity: "2"}.Record()
		require.NoError(t, err)
		record.Value = []byte(`{"format":"lethe-instance/1","role":"view","identity":"2","replaced":[{"identity":"1","at":"` +
			string(said) + `"}]}`)
		_, _, err = wire.ParseInstance(recordOf(record))
		require.ErrorContains(t, err, "1970 to 9999")
	}
	record, err := wire.Strike{Role: "train", Identity: "1", At: time.Date(2026, 3, 1, 12, 0, 0, 1, zone)}.Record()
	require.NoError(t, err)
	strike, found, err := wire.ParseStrike(recordOf(record))
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, time.Date(2026, 3, 2, 11, 0, 0, 0, time.UTC), strike.At)
}
