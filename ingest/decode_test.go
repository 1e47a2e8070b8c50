package ingest_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe/ingest"
)

// The transcripts in testdata/decode show records and what becomes of them. The first
// line of a record is its key, the second its value; nil is no key or no
// value, empty an empty key, and a value after "go:" is a quoted Go string.
func TestDecode(t *testing.T) {
	datadriven.Walk(t, "testdata/decode", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			rec, limits := parseCase(t, d)
			event, err := decode(t, d.Cmd, rec, limits)
			if err == nil {
				return fmt.Sprintf("%s %+v\n", strings.TrimPrefix(fmt.Sprintf("%T", event), "ingest."), event)
			}
			require.Nil(t, event)
			var refusal *ingest.Refusal
			require.ErrorAs(t, err, &refusal)
			require.True(t, refusal.Reason.Known())
			return fmt.Sprintf("%s: %s\n", refusal.Reason, refusal.Detail)
		})
	})
}

func decode(t require.TestingT, topic string, rec ingest.Record, limits ingest.Limits) (ingest.Event, error) {
	switch topic {
	case "transactions":
		return ingest.DecodeTransactions(rec, limits)
	case "labels":
		return ingest.DecodeLabels(rec, limits)
	case "erasures":
		return ingest.DecodeErasure(rec, limits)
	default:
		require.FailNow(t, "unknown command "+topic)
		return nil, errors.New("unreachable")
	}
}

func parseCase(t *testing.T, d *datadriven.TestData) (rec ingest.Record, limits ingest.Limits) {
	t.Helper()
	limits = ingest.DefaultLimits()
	key, value, _ := strings.Cut(d.Input, "\n")
	switch key {
	case "nil":
	case "empty":
		rec.Key = []byte{}
	default:
		rec.Key = []byte(key)
	}
	switch quoted, isQuoted := strings.CutPrefix(value, "go:"); {
	case isQuoted:
		text, err := strconv.Unquote(quoted)
		require.NoError(t, err)
		rec.Value = []byte(text)
	case value != "nil":
		rec.Value = []byte(value)
	}
	d.MaybeScanArgs(t, "partition", &rec.Partition)
	d.MaybeScanArgs(t, "features", &limits.FeatureCount)
	d.MaybeScanArgs(t, "max-features", &limits.MaxFeatureCount)
	d.MaybeScanArgs(t, "max-bytes", &limits.MaxRecordBytes)
	if d.HasArg("max-magnitude") {
		var text string
		d.ScanArgs(t, "max-magnitude", &text)
		var err error
		limits.MaxMagnitude, err = strconv.ParseFloat(text, 64)
		require.NoError(t, err)
	}
	d.MaybeScanArgs(t, "max-nodes", &limits.MaxErasureNodes)
	return rec, limits
}

// Each level takes room on the stack: lists that formats have are bounded as what is skipped is.
func TestListsAreNotNestedDeep(t *testing.T) {
	for _, name := range []string{"payments", "features_of"} {
		deep := strings.Repeat(`{"`+name+`":[`, 40) + strings.Repeat("]}", 40)
		value := `{"type":"transaction","id":"a","timestep":1,"features":[1],"` + name + `":[` + deep + `]}`
		_, err := ingest.DecodeTransactions(ingest.Record{Key: []byte("a"), Value: []byte(value)}, ingest.DefaultLimits())
		require.ErrorContains(t, err, "unparseable: nested too deep")
	}
}

func TestRefusalsNeverRepeatContent(t *testing.T) {
	const secret = "S3CR3T"
	for _, value := range []string{
		`{"type":"transaction","id":"S3CR3T x","timestep":1,"features":[1]}`,
		`{"type":"transaction","id":"S3CR3T","timestep":1,"features":[424242e99]}`,
		`{"type":"S3CR3T"}`,
		`{"type":"transaction","S3CR3T":1}`,
		`{"type":"payment","source":"S3CR3T","target":"S3CR3T","timestep":1}`,
		`{"type":"label","id":"S3CR3T","timestep":1,"label":"S3CR3T"}`,
		`{"type":"erasure","request_id":"r","nodes":["S3CR3T","S3CR3T"]}`,
		`{"type":"erasure","request_id":"S3CR3T!","nodes":["a"]}`,
		`{"type":"erasure","request_id":"r","nodes":["a"],"requested_at":"S3CR3T"}`,
		`S3CR3T`,
	} {
		for _, topic := range []string{"transactions", "labels", "erasures"} {
			_, err := decode(t, topic, ingest.Record{Key: []byte(secret), Value: []byte(value)}, ingest.DefaultLimits())
			require.Error(t, err)
			require.NotContains(t, err.Error(), secret)
			require.NotContains(t, err.Error(), "424242")
		}
	}
}

func TestLimitsReportEverythingAtOnce(t *testing.T) {
	err := ingest.Limits{FeatureCount: 7, MaxFeatureCount: -1, MaxRecordBytes: -2, MaxErasureNodes: -3}.Validate()
	require.EqualError(t, err, `max_record_bytes is -2, want 1000 to 100000000
max_magnitude is 0, want more than 0, at most 1e+12
max_feature_count is -1, want at least 1
feature_count is 7, want 0 to -1
max_erasure_nodes is -3, want at least 1`)
	require.NoError(t, ingest.DefaultLimits().Validate())
}
