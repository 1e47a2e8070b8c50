package deadletters_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/deadletters"
	"lethe/pipeline/role/roletest"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// refuse puts a dead letter on its topic.
func refuse(t *testing.T, topics *roletest.Bus, rec ingest.Record, reason ingest.Reason) {
	t.Helper()
	out := ingest.DeadLetter(rec, &ingest.Refusal{Reason: reason, Detail: "a detail"}, "test")
	require.NoError(t, topics.Write(t.Context(), bus.DeadLetters, []ingest.Outgoing{out}))
}

func record(topic, key string, offset int64) ingest.Record {
	return ingest.Record{
		Topic: "lethe." + topic, Partition: 1, Offset: offset, Key: []byte(key), Value: []byte(`{"id":"` + key + `"}`),
		Time: at.Add(time.Duration(offset) * time.Minute),
	}
}

func filled(t *testing.T) *roletest.Bus {
	t.Helper()
	topics := roletest.NewBus(map[bus.Topic]int{bus.DeadLetters: 2, bus.Transactions: 2})
	refuse(t, topics, record("transactions.v1", "a", 7), ingest.Late)
	refuse(t, topics, record("transactions.v1", "b", 3), ingest.Unparseable)
	refuse(t, topics, record("labels.v1", "a", 5), ingest.Late)
	refuse(t, topics, record("elsewhere", "x", 1), ingest.Late)
	refusal := &ingest.Refusal{Reason: ingest.BadRequestID}
	withheld := ingest.WithheldLetter(record("transactions.v1", "gone", 1), refusal, "v")
	require.NoError(t, topics.Write(t.Context(), bus.DeadLetters, []ingest.Outgoing{withheld}))
	require.NoError(t, topics.Write(t.Context(), bus.DeadLetters, []ingest.Outgoing{{Key: ingest.MarkerKey(0)}}))
	return topics
}

func places(letters []deadletters.Letter) (out []string) {
	for _, l := range letters {
		out = append(out, l.Place())
	}
	return out
}

func TestListChoosesByReasonTopicTimeAndPlace(t *testing.T) {
	topics := filled(t)
	for _, c := range []struct {
		filter deadletters.Filter
		want   []string
	}{
		{deadletters.Filter{}, []string{
			"lethe.elsewhere/1/1", "labels.v1/1/5", "transactions.v1/1/1", "transactions.v1/1/3", "transactions.v1/1/7",
		}},
		{
			deadletters.Filter{Reasons: []ingest.Reason{ingest.Late}, Topics: []bus.Topic{bus.Transactions}},
			[]string{"transactions.v1/1/7"},
		},
		{deadletters.Filter{Since: at.Add(5 * time.Minute)}, []string{"labels.v1/1/5", "transactions.v1/1/7"}},
		{deadletters.Filter{Places: []string{"transactions.v1/1/3"}}, []string{"transactions.v1/1/3"}},
	} {
		got, err := deadletters.List(t.Context(), topics, c.filter)
		require.NoError(t, err)
		require.Equal(t, c.want, places(got))
	}
	_, err := deadletters.List(t.Context(), topics, deadletters.Filter{Places: []string{"labels.v1/1/6"}})
	require.ErrorIs(t, err, deadletters.ErrUnknown)
}

// What can be sent again is sent as it came and is marked; the rest is told with the reason.
func TestReplaySendsWhatCanBeSent(t *testing.T) {
	topics := filled(t)
	letters, err := deadletters.List(t.Context(), topics, deadletters.Filter{})
	require.NoError(t, err)
	sent, refused, err := deadletters.Replay(t.Context(), topics, letters, at)
	require.NoError(t, err)
	require.Equal(t, 3, sent)
	why := make(map[string]string)
	for _, r := range refused {
		require.ErrorIs(t, r.Why, ingest.ErrNotReplayable)
		why[r.Place()] = r.Why.Error()
	}
	require.Equal(t, map[string]string{
		"lethe.elsewhere/1/1": "the record cannot be sent again: lethe does not read its topic",
		"transactions.v1/1/1": "the record cannot be sent again: nothing of it is kept",
	}, why)
	values := make(map[string]string)
	for _, topic := range []bus.Topic{bus.Transactions, bus.Labels} {
		for _, rec := range roletest.Records(t, topics, topic) {
			values[string(topic)+" "+string(rec.Key)] = string(rec.Value)
		}
	}
	require.Equal(t, map[string]string{
		"transactions.v1 a": `{"id":"a"}`, "transactions.v1 b": `{"id":"b"}`, "labels.v1 a": `{"id":"a"}`,
	}, values)

	open, err := deadletters.List(t.Context(), topics, deadletters.Filter{Open: true})
	require.NoError(t, err)
	require.Equal(t, []string{"lethe.elsewhere/1/1", "transactions.v1/1/1"}, places(open))
}

func TestReplaySaysWhatTheBrokerRefuses(t *testing.T) {
	topics := filled(t)
	letters, err := deadletters.List(t.Context(), topics, deadletters.Filter{})
	require.NoError(t, err)
	topics.Refuse(errors.New("no leader"))
	sent, _, err := deadletters.Replay(t.Context(), topics, letters, at)
	require.ErrorContains(t, err, "mark 3 dead letters: no leader")
	require.Zero(t, sent)
}

func TestWhatIsShownHoldsNothingPersonal(t *testing.T) {
	const value = `{"type":"transaction","id":"S3CR3T","timestep":4,"features":[0.731,1,2,3,4],"x":{"S":"S3CR3T"}}`
	shown := deadletters.Redacted([]byte(value))
	require.NotContains(t, shown, "S3CR3T")
	require.NotContains(t, shown, "731")
	require.Contains(t, shown, `"timestep": 4`)
	require.Contains(t, shown, `"and 2 more"`)
	require.Contains(t, shown, `"id": "(text of 6 bytes)"`)
	require.NotContains(t, deadletters.Redacted([]byte(`{"type":"S3CR3T","timestep":"S3CR3T"}`)), "S3CR3T")
	require.Equal(t, "(9 bytes that are not JSON)", deadletters.Redacted([]byte(`{"S3CR3T"`)))
}

// The name of a field can be somebody's as well as its content.
func TestNamesOfUnknownFieldsAreNotShown(t *testing.T) {
	form := deadletters.Redacted([]byte(`{"type":"label","tx-anna":1,"id":"tx-anna","more":{"tx-anna":[{"tx-anna":2}]}}`))
	require.NotContains(t, form, "anna")
	require.JSONEq(t, `{"type":"label","id":"(text of 7 bytes)","(others)":2}`, form)
}
