package translog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/translog"
)

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
