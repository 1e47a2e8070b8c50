package deletions_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/memorykv"
	"lethe/deletions/scan"
)

func TestStatusTellsNoRecord(t *testing.T) {
	ledger := deletions.NewLedger(memorykv.New(), func() time.Time { return epoch })
	e, err := ledger.Receive(testSecret, request("r1", "transaction-1"))
	require.NoError(t, err)
	for _, to := range []deletions.State{deletions.Accepted, deletions.Suppressed} {
		e, err = ledger.Transition("r1", to, nil)
		require.NoError(t, err)
	}
	e, err = ledger.Stop("r1", deletions.Failed, deletions.FailedBroker)
	require.NoError(t, err)
	s := e.Status()
	data, err := s.Encode()
	require.NoError(t, err)
	require.Equal(t, `{"attempts":0,"counts":{"dead_letters":0,"labels":0,`+
		`"nodes":1,"payments":0,"predictions":0,"shards":0,"slices":0,"source_records":0,"stubs":0,"timesteps":0},`+
		`"elapsed_ms":{"suppressed":0},"failed_in":"suppressed","failure":"broker","format":"lethe-erasure-status/4",`+
		`"outcomes":[{"target":"bb3020b27b69ae443a6437918121915118ece15e2f29d27aceee7526fa309f0a"}],`+
		`"received_at":"2026-03-01T12:00:00.123Z",`+
		`"request_digest":"1aef0d49461a9594783c7415872785090edf687525b35d2fcc40a5910d044717",`+
		`"request_id":"r1","scope":"stubs","state":"failed",`+
		`"updated_at":"2026-03-01T12:00:00.123Z"}`, string(data))
	again, err := deletions.DecodeStatus(data)
	require.NoError(t, err)
	require.Equal(t, s, again)
	for old, new := range map[string]string{
		`"failed_in":"suppressed"`: `"failed_in":"verified"`,
		`"failure":"broker"`:       `"failure":"scope_not_exact"`,
		`"state":"failed"`:         `"state":"lost"`,
		`"scope":"stubs"`:          `"scope":""`,
		`status/4`:                 `status/5`,
		`"suppressed":0`:           `"suppressed":0,"swapped":-1`,
		`"target":"bb`:             `"target":"b`,
		`"attempts":0`:             `"attempts":"0"`,
		`"attempts"`:               `"extra"`,
	} {
		changed := bytes.Replace(data, []byte(old), []byte(new), 1)
		require.NotEqual(t, data, changed)
		_, err := deletions.DecodeStatus(changed)
		require.ErrorIs(t, err, deletions.ErrFormat, new)
	}
}

func TestAckRoundTrip(t *testing.T) {
	a := deletions.NewAck("r1", "train", "node-a", deletions.StepScanned)
	a.Attempt = 2
	a.Scan = &scan.Summary{Files: 3, Bytes: 4, Records: 5}
	a.Ensemble = lethe.Digest{7}
	a.Shards = []lethe.ShardID{1, 4}
	a.Components = []deletions.ComponentGroups{{Model: "trees", Groups: 2, Of: []int{0, 1}}}
	require.Equal(t, "ack/r1/train/node-a/scanned", a.Key())
	a.Run = "17ab"
	require.Equal(t, "ack/r1/train/node-a/scanned/17ab", a.Key(), "another process says it beside this one")
	data, err := a.Encode()
	require.NoError(t, err)
	again, err := deletions.DecodeAck(data)
	require.NoError(t, err)
	require.Equal(t, a, again)

	for problem, change := range map[string]func(*deletions.Ack){
		"request_id": func(a *deletions.Ack) { a.RequestID = "" },
		"role":       func(a *deletions.Ack) { a.Role = "a/b" },
		"run":        func(a *deletions.Ack) { a.Run = "a/b" },
		"instance":   func(a *deletions.Ack) { a.Instance = "" },
		"step":       func(a *deletions.Ack) { a.Step = "hoped" },
		"attempt":    func(a *deletions.Ack) { a.Attempt = -1 },
		"numbers":    func(a *deletions.Ack) { a.Scan = nil },
		"ascending":  func(a *deletions.Ack) { a.Shards = []lethe.ShardID{4, 1} },
		"component 0 has groups of 1 shards, 2 are named": func(a *deletions.Ack) {
			a.Components = []deletions.ComponentGroups{{Model: "trees", Groups: 2, Of: []int{0}}}
		},
		"names a group that it has not": func(a *deletions.Ack) {
			a.Components = []deletions.ComponentGroups{{Model: "trees", Groups: 2, Of: []int{0, 2}}}
		},
		"format": func(a *deletions.Ack) { a.Format = "" },
	} {
		broken := a
		change(&broken)
		_, err := broken.Encode()
		require.ErrorContains(t, err, problem)
	}
	_, err = deletions.DecodeAck(bytes.Replace(data, []byte(`"scanned"`), []byte(`"hoped"`), 1))
	require.ErrorIs(t, err, deletions.ErrFormat)
}
