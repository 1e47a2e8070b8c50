package ingest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
)

// wayOut is a record that is rejected, and what docs/topics.md has an operator do: the record mended, or a setting.
type wayOut struct {
	topic, key, value string
	mendedKey, mended string
	set               func(l *ingest.Limits)
	before            func(l *ingest.Limits)
}

// withRequest is a request for erasure of pay-1 with one member more or another one.
func withRequest(members string) string {
	return `{"type":"erasure","request_id":"r","requested_at":"2026-11-29T00:00:00Z",` + members + `}`
}

// waysOut has every reason that decoding finds.
func waysOut() map[ingest.Reason]wayOut {
	const good, label = `{"type":"transaction","id":"pay-1","timestep":9,"features":[1,2]}`,
		`{"type":"label","id":"pay-1","timestep":9,"label":"licit"}`
	request := withRequest(`"nodes":["pay-1"]`)
	transaction := func(value string) wayOut {
		return wayOut{topic: "transactions", key: "pay-1", value: value, mended: good}
	}
	erasure := func(value string) wayOut { return wayOut{topic: "erasures", key: "r", value: value, mended: request} }
	two := func(l *ingest.Limits) { l.FeatureCount = 2 }
	return map[ingest.Reason]wayOut{
		ingest.TooLarge: {topic: "transactions", key: "pay-1", value: good + strings.Repeat(" ", 2000), mended: good,
			before: func(l *ingest.Limits) { l.MaxRecordBytes = 1000 }},
		ingest.MissingKey:     {topic: "transactions", value: good, mendedKey: "pay-1", mended: good},
		ingest.Unparseable:    transaction(good[:30]),
		ingest.DuplicateField: transaction(`{"id":"pay-1",` + good[1:]),
		ingest.UnknownType:    transaction(strings.Replace(good, `"transaction"`, `"purchase"`, 1)),
		ingest.UnknownField: {topic: "transactions", key: "!close/9/0", value: `{"type":"close","timestep":9,"amount":3}`,
			mended: `{"type":"close","timestep":9}`},
		ingest.MissingField: transaction(strings.Replace(good, `"timestep":9,`, "", 1)),
		ingest.BadType:      transaction(strings.Replace(good, `"pay-1"`, "17", 1)),
		ingest.BadID: {topic: "transactions", key: "pay 1", value: strings.Replace(good, "pay-1", "pay 1", 1),
			mendedKey: "pay-1", mended: good},
		ingest.KeyMismatch: {topic: "transactions", key: "pay-2", value: good, mendedKey: "pay-1", mended: good},
		ingest.BadTimestep: transaction(strings.Replace(good, ":9", ":-9", 1)),
		ingest.FeatureCount: {topic: "transactions", key: "pay-1", value: strings.Replace(good, "[1", "[0,1", 1),
			mended: good, before: two, set: two},
		ingest.FeatureNotFinite: transaction(strings.Replace(good, "[1", "[1e99", 1)),
		ingest.FeatureMagnitude: {topic: "transactions", key: "pay-1", value: strings.Replace(good, "[1", "[1e7", 1),
			mended: strings.Replace(good, "[1", "[1e7", 1), set: func(l *ingest.Limits) { l.MaxMagnitude = 1e8 }},
		ingest.UnknownLabel: {topic: "labels", key: "pay-1", value: strings.Replace(label, "licit", "fraud", 1),
			mended: label},
		ingest.SelfLoop: {topic: "transactions", key: "pay-1>pay-1", mendedKey: "pay-1>pay-2",
			value:  `{"type":"payment","source":"pay-1","target":"pay-1","timestep":9}`,
			mended: `{"type":"payment","source":"pay-1","target":"pay-2","timestep":9}`},
		ingest.BadRequestID:  erasure(strings.Replace(request, `"r"`, `"r r"`, 1)),
		ingest.NodeCount:     erasure(withRequest(`"nodes":[]`)),
		ingest.UnknownScope:  erasure(withRequest(`"nodes":["pay-1"],"scope":"all"`)),
		ingest.BadReasonText: erasure(withRequest(`"nodes":["pay-1"],"reason":"` + strings.Repeat("x", 1025) + `"`)),
		ingest.BadTime:       erasure(strings.Replace(request, "T00:00:00Z", "", 1)),
		ingest.BadColumn:     erasure(withRequest(`"features_of":[{"id":"pay-1","columns":[5000]}]`)),
		ingest.BadNonce:      erasure(withRequest(`"nodes":["pay-1"],"nonce":"x"`)),
		ingest.BadDigest: {topic: "erasures", key: "!cancel/r",
			value: `{"type":"cancel","request_id":"r","request_digest":"x","requested_at":"2026-11-29T00:00:00Z"}`,
			mended: `{"type":"cancel","request_id":"r","request_digest":"` + strings.Repeat("0a", 32) +
				`","requested_at":"2026-11-29T00:00:00Z"}`},
		ingest.SubjectCount: transaction(`{"subjects":["c"` + strings.Repeat(`,"c"`, ingest.MaxSubjects) + `],` + good[1:]),
		ingest.BadSubject:   transaction(`{"subjects":[""],` + good[1:]),
		ingest.UnknownSchema: {topic: "transactions", key: "!close/9/0", value: "\x00\x00\x00\x00\x07\x02\x04\x08\x09",
			mended: "\x00\x00\x00\x00\x07\x02\x04\x08\x09", before: func(l *ingest.Limits) { l.SchemaID = 8 },
			set: func(l *ingest.Limits) { l.SchemaID = 7 }},
	}
}

// heldElsewhere has the reasons that need a stream, signatures or a damaged log, by what tries their ways out.
func heldElsewhere() []ingest.Reason {
	return []ingest.Reason{
		// ingest/authority TestEveryReasonOfSignatures_WayOut_IsAccepted
		ingest.Unsigned, ingest.UnknownKey, ingest.WrongRole, ingest.BadSignature, ingest.SignatureExpired,
		// service TestTwoPeopleSignAnErasure
		ingest.SamePerson,
		// pipeline/graphs TestWaysOutOfDeadLetters
		ingest.WrongPartition, ingest.Late, ingest.CrossTimestep, ingest.TooManyWaiting, ingest.TooManyOpen,
		ingest.TimestepConflict,
		// pipeline/graphs TestAWithdrawnLetterLeavesThoseRefusedForGood
		ingest.UnknownEndpoint, ingest.UnknownTransaction,
		// integration/silence TestEveryStopIsTold
		ingest.TimestepJump,
		// service TestADamagedBatch_SentAgain_IsAccepted; what was removed unread or is unproven has the operator look
		ingest.CorruptBatch, ingest.Unproven, ingest.RemovedUnread,
	}
}

// Every reason that decoding finds has a way out, and it leads out: the record is rejected for that reason, and
// accepted once it is mended, or the setting is changed that the documents name.
func TestEveryReason_WayOut_IsAccepted(t *testing.T) {
	ways, elsewhere := waysOut(), heldElsewhere()
	for _, reason := range ingest.Reasons() {
		way, has := ways[reason]
		if !has {
			require.Contains(t, elsewhere, reason, "a reason without a way out")
			continue
		}
		limits := ingest.DefaultLimits()
		if way.before != nil {
			way.before(&limits)
		}
		record := ingest.Record{Value: []byte(way.value)}
		if way.key != "" {
			record.Key = []byte(way.key)
		}
		_, err := decode(t, way.topic, record, limits)
		var refusal *ingest.Refusal
		require.ErrorAs(t, err, &refusal, reason)
		require.Equal(t, reason, refusal.Reason, refusal.Detail)
		if way.set != nil {
			way.set(&limits)
		}
		if way.mendedKey != "" {
			record.Key = []byte(way.mendedKey)
		}
		record.Value = []byte(way.mended)
		event, err := decode(t, way.topic, record, limits)
		require.NoError(t, err, reason)
		require.NotNil(t, event, reason)
	}
	require.Equal(t, len(ingest.Reasons()), len(ways)+len(elsewhere))
}
