package translog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/translog"
)

// operators are the operator leaves of a log.
func operators(t *testing.T, b *book) (out []translog.Operator) {
	require.NoError(t, b.log.Each(func(_ int64, leaf translog.Leaf) error {
		if o, ok := leaf.(translog.Operator); ok {
			out = append(out, o)
		}
		return nil
	}))
	return out
}

func holdOf(t *testing.T, name string, ids ...lethe.TransactionID) deletions.Hold {
	h, err := deletions.NewHold(secret, name, "the court of Delft", lethe.Transactions(ids...), time.Time{},
		deletions.Position{At: epoch})
	require.NoError(t, err)
	return h
}

func TestWhatOperatorsDoIsALeaf(t *testing.T) {
	b := newBook(t, "ours")
	set := holdOf(t, "h-1", "tx-1", "tx-2")
	require.NoError(t, b.ledger.PutHold(set))
	lifted := set
	lifted.LiftedAt = epoch.Add(time.Hour)
	require.NoError(t, b.ledger.PutHold(lifted))
	require.NoError(t, b.ledger.PutHold(lifted), "as after a crash")
	e := b.take(t, "r-1", "tx-9")
	_, err := b.ledger.TransitionAll([]string{"r-1"}, deletions.Cancelled, nil)
	require.NoError(t, err)
	cancelled, err := b.ledger.Get("r-1")
	require.NoError(t, err)
	gone := translog.TakeOver("train", "0123abcd", epoch.Add(time.Minute))
	for range 2 {
		require.NoError(t, b.log.Append(gone))
	}

	require.Equal(t, []translog.Operator{
		{Action: translog.ActionHold, At: epoch, Detail: set.Digest()},
		{Action: translog.ActionRelease, At: epoch.Add(time.Hour), Detail: lifted.Digest()},
		{Action: translog.ActionCancel, At: cancelled.Updated(), Request: e.Digest},
		gone,
	}, operators(t, b))
	for key, value := range b.kv.Rows {
		if strings.HasPrefix(key, "log/") {
			require.NotContains(t, string(value), "h-1")
			require.NotContains(t, string(value), "Delft")
			require.NotContains(t, string(value), "0123abcd")
		}
	}
}

// A hold of before the log, or of a ledger that was made again, is written down at the start,
// once; a log that lacks one is refused.
func TestAHoldThatTheLogLacksIsRefused(t *testing.T) {
	b, p := newBook(t, "ours"), &topic{}
	b.take(t, "r-1", "tx-9")
	b.ledger.Keep(nil)
	h := holdOf(t, "h-1", "tx-1")
	require.NoError(t, b.ledger.PutHold(h))
	check := func() *translog.Report {
		stored, err := translog.ReadStored(b.kv)
		require.NoError(t, err)
		entries, err := b.ledger.List()
		require.NoError(t, err)
		return translog.Verify(translog.Evidence{
			Origin: translog.Name("ours"), Key: publicOf("ours"), Stored: &stored, Ledger: entries, Holds: []deletions.Hold{h},
		})
	}
	report := check()
	require.False(t, report.OK)
	require.Equal(t, translog.StatementLedger, report.Refused[0].Statement)
	require.Contains(t, report.Refused[0].Problem, "hold h-1")
	for range 2 {
		require.NoError(t, b.start(t, p))
		require.Len(t, operators(t, b), 1)
		require.Empty(t, check().Refused)
	}
}

// What somebody did is a leaf once, however often a record that says so is read, and names nobody.
func TestWhatPeopleDidIsALeafOnce(t *testing.T) {
	b := newBook(t, "ours")
	looked := translog.Access{
		Deed: translog.DeedLook, At: epoch, Actor: translog.ActorHash(secret, "anna"),
		Request: translog.RequestHash(secret, "gdpr-17"),
	}
	labelled := translog.Access{Deed: translog.DeedLabel, At: epoch.Add(time.Second), Count: 1}
	for range 2 {
		_, err := b.log.CommitThrough("topic/0", 7, looked, labelled, looked)
		require.NoError(t, err)
		b.reopen(t, "ours")
	}
	next, err := b.log.Position("topic/0")
	require.NoError(t, err)
	require.EqualValues(t, 7, next)
	var found []translog.Leaf
	require.NoError(t, b.log.Each(func(_ int64, leaf translog.Leaf) error {
		found = append(found, leaf)
		return nil
	}))
	require.Equal(t, []translog.Leaf{looked, labelled}, found)
	for _, text := range leaves(t, b) {
		require.NotContains(t, text, "anna")
		require.NotContains(t, text, "gdpr")
	}
	_, err = b.log.CommitThrough("topic/0", 8, translog.Access{Deed: "stare", At: epoch})
	require.ErrorContains(t, err, "deed is not known")
}

// The hashes are those of one deployment, outlive a rotation of its secret, and cannot be told from
// each other; nobody has none.
func TestHashesOfPeople(t *testing.T) {
	anna := translog.ActorHash(secret, "anna")
	require.NotEqual(t, anna, translog.ActorHash(secret, "bert"))
	require.NotEqual(t, anna, translog.ActorHash(lethe.Secret{8}, "anna"))
	require.NotEqual(t, anna, translog.RequestHash(secret, "anna"))
	require.Equal(t, anna, translog.ActorHash(secret.Follow([lethe.SecretKeyBytes]byte{1}), "anna"))
	require.True(t, translog.ActorHash(secret, "").IsZero())
	require.True(t, translog.RequestHash(secret, "").IsZero())
	require.False(t, strings.Contains(anna.String(), "anna"))
}
