package translog_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/deletions/internal/memorykv"
	"lethe/deletions/translog"
)

// follow begins a process that signs "ours" with the key of another name, introduced by the
// key of a third, or by nobody.
func (b *book) follow(t *testing.T, p *topic, now, before string) error {
	signer, err := translog.NewSigner(translog.Name("ours"), keyOf(now))
	require.NoError(t, err)
	b.reopen(t, "ours")
	b.log = translog.NewLog(b.kv, signer)
	if before != "" {
		b.log.Follow(keyOf(before), epoch.Add(time.Hour))
	}
	entries, err := b.ledger.List()
	require.NoError(t, err)
	b.ledger.Keep(b.log)
	if err := b.log.Start(t.Context(), p, nil, deletions.Changes{Entries: entries}); err != nil {
		return err
	}
	return b.log.Publish(t.Context(), p)
}

// rotated is a log that three keys have signed, with a receipt and a checkpoint of each time.
func rotated(t *testing.T) (b *book, p *topic, e translog.Evidence, notes []string) {
	b, p = newBook(t, "ours"), &topic{}
	before := ""
	for i, key := range []string{"ours", "second", "third"} {
		for range 2 { // a start that is repeated introduces nobody again
			require.NoError(t, b.follow(t, p, key, before))
		}
		id := []string{"r-1", "r-2", "r-3"}[i]
		b.carryOutNew(t, id)
		proof := b.issue(t, p, id, "receipt of "+id)
		e.Receipts = append(e.Receipts, translog.IssuedReceipt{Name: id, Payload: []byte("receipt of " + id), Proof: &proof})
		signed, err := b.log.Checkpoint()
		require.NoError(t, err)
		notes = append(notes, signed.Note)
		before = key
	}
	require.NoError(t, b.log.Publish(t.Context(), p))
	stored, err := translog.ReadStored(b.kv)
	require.NoError(t, err)
	published := p.published(t)
	e.Origin, e.Stored, e.Published = translog.Name("ours"), &stored, &published
	e.Ledger, err = b.ledger.List()
	require.NoError(t, err)
	return b, p, e, notes
}

func (b *book) carryOutNew(t *testing.T, id string) {
	b.take(t, id, "tx-1")
	b.carryOut(t, id)
}

func (b *book) issue(t *testing.T, p *topic, id, payload string) translog.Proof {
	e, err := b.ledger.Get(id)
	require.NoError(t, err)
	proofs, err := b.log.Issue(t.Context(), p, []translog.Receipt{{Request: e.Digest, Payload: digestOf("%s", payload)}})
	require.NoError(t, err)
	return proofs[0]
}

// Whoever knows one key of a log, whichever, can check all of it.
func TestALogGoesOnUnderAnotherKey(t *testing.T) {
	b, _, e, notes := rotated(t)
	for _, trusted := range []string{"ours", "second", "third"} {
		e.Key = publicOf(trusted)
		for _, note := range notes {
			e.Older = note
			require.Empty(t, translog.Verify(e).Refused, trusted)
		}
	}
	e.Key = publicOf("theirs")
	require.Equal(t, translog.StatementKey, translog.Verify(e).Refused[0].Statement)
	require.Len(t, operators(t, b), 2)
}

// A key that took part before may not go on, nor one that nobody introduced.
func TestOnlyTheNewestKeyGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		now, before string
		want        translog.Statement
	}{
		"an older key":                    {"second", "", translog.StatementKey},
		"an older key, by the older one":  {"second", "ours", translog.StatementKey},
		"a new key that nobody knows":     {"fourth", "", translog.StatementKey},
		"a new key by one that is no key": {"fourth", "theirs", translog.StatementKey},
		"a new key by an older one":       {"fourth", "second", translog.StatementKey},
	} {
		b, p, _, _ := rotated(t)
		t.Log(name)
		refused(t, b.follow(t, p, c.now, c.before), c.want)
	}
	b, p := newBook(t, "ours"), &topic{}
	b.carryOutNew(t, "r-1")
	refused(t, b.follow(t, p, "second", ""), translog.StatementCheckpoint)
}

// A lost store is made again from the topic, while the key is rotated too.
func TestALogThatIsMadeAgainKeepsItsKeys(t *testing.T) {
	b, p, e, _ := rotated(t)
	b.kv = memorykv.New()
	require.NoError(t, b.follow(t, p, "fourth", "third"))
	stored, err := translog.ReadStored(b.kv)
	require.NoError(t, err)
	published := p.published(t)
	e.Stored, e.Published, e.Ledger, e.Key = nil, &published, nil, publicOf("ours")
	require.Empty(t, translog.Verify(e).Refused)
	require.Equal(t, stored, published)
	require.Len(t, operators(t, b), 3)
}

// Who can write to the store and has keys of his own cannot introduce them.
func TestAForgedIntroductionIsRefused(t *testing.T) {
	sign := func(c *translog.Copy, key string) {
		signer, err := translog.NewSigner(translog.Name("ours"), keyOf(key))
		require.NoError(t, err)
		var tree translog.Tree
		require.NoError(t, tree.Append(c.Leaves...))
		now, err := tree.Now()
		require.NoError(t, err)
		signed, err := signer.Sign(now)
		require.NoError(t, err)
		c.Checkpoint = signed.Note
	}
	forge := func(from, to, by string) []byte {
		key := translog.Introduction{
			From: publicOf(from), To: publicOf(to), Signature: ed25519.Sign(keyOf(by), []byte("lethe key rotation/1\n"+
				"lethe.log/ours\n1772366400000\n"+base64.StdEncoding.EncodeToString(publicOf(from))+"\n"+
				base64.StdEncoding.EncodeToString(publicOf(to))+"\n")),
		}
		leaf, err := translog.Encode(translog.Operator{Action: translog.ActionRotateKey, At: epoch, Key: &key})
		require.NoError(t, err)
		return leaf
	}
	for name, c := range map[string]struct {
		change func(c *translog.Copy)
		want   translog.Statement
	}{
		"by nobody": {func(c *translog.Copy) { sign(c, "theirs") }, translog.StatementCheckpoint},
		"by itself": {func(c *translog.Copy) {
			c.Leaves = append(c.Leaves, forge("third", "theirs", "theirs"))
			sign(c, "theirs")
		}, translog.StatementKey},
		"by an older key": {func(c *translog.Copy) {
			c.Leaves = append(c.Leaves, forge("second", "theirs", "second"))
			sign(c, "theirs")
		}, translog.StatementKey},
		"of another log": {func(c *translog.Copy) {
			another := bytes.Replace(forge("third", "theirs", "third"), []byte("12:00:00"), []byte("13:00:00"), 1)
			c.Leaves = append(c.Leaves, another)
			sign(c, "theirs")
		}, translog.StatementKey},
		"signed by the key before": {func(c *translog.Copy) {
			c.Leaves = append(c.Leaves, forge("third", "fourth", "third"))
			sign(c, "third")
		}, translog.StatementCheckpoint},
	} {
		_, _, e, _ := rotated(t)
		c.change(e.Stored)
		e.Key, e.Published = publicOf("ours"), nil
		report := translog.Verify(e)
		require.False(t, report.OK, name)
		require.Equal(t, c.want, report.Refused[0].Statement, "%s: %s", name, report.Refused[0].Problem)
	}
	_, _, e, _ := rotated(t)
	e.Stored.Leaves = append(e.Stored.Leaves, forge("third", "fourth", "third"))
	sign(e.Stored, "fourth")
	e.Key, e.Published = publicOf("ours"), nil
	require.Empty(t, translog.Verify(e).Refused, "what these are forged from")
}
