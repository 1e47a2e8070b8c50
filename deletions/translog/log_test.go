package translog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/memorykv"
	"lethe/deletions/translog"
)

// leaves are the kinds of the leaves of a log.
func leaves(t *testing.T, b *book) (out []string) {
	require.NoError(t, b.log.Each(func(_ int64, leaf translog.Leaf) error {
		text := string(leaf.Kind())
		if move, ok := leaf.(translog.Transition); ok {
			text += " " + string(move.State)
		}
		out = append(out, text)
		return nil
	}))
	return out
}

func TestTheLedgerIsWrittenDown(t *testing.T) {
	b := newBook(t, "ours")
	e := b.take(t, "r-1", "tx-1", "tx-2")
	_, err := b.ledger.TransitionAll([]string{"r-1"}, deletions.Accepted, nil)
	require.NoError(t, err)
	b.reopen(t, "ours")
	_, err = b.ledger.StopAll([]string{"r-1"}, deletions.Failed, deletions.FailedBroker)
	require.NoError(t, err)
	_, err = b.ledger.UpdateAll([]string{"r-1"}, func(_ int, _ *deletions.Progress) {})
	require.NoError(t, err)
	require.Equal(t, []string{"request", "transition accepted", "transition failed"}, leaves(t, b))
	signed, err := b.log.Checkpoint()
	require.NoError(t, err)
	require.EqualValues(t, 3, signed.N)

	require.NoError(t, b.log.Each(func(i int64, leaf translog.Leaf) error {
		request, ok := leaf.(translog.Request)
		if !ok {
			return nil
		}
		require.Equal(t, e.Digest, request.Digest)
		require.Equal(t, 2, request.Targets)
		// What the deployment opens, everybody can check.
		salt := deletions.TargetSalt(secret, e.Digest, 1)
		require.Equal(t, deletions.Commitment(salt, secret.Pseudonym("tx-2")), request.Commitments[1])
		require.NotContains(t, request.Commitments, deletions.Commitment(salt, secret.Pseudonym("tx-1")))
		return nil
	}))
}

// What a plan has found is a leaf of its own, once, which the ledger's row goes along with.
func TestWhatWasFoundIsWrittenDownOnce(t *testing.T) {
	b := newBook(t, "ours")
	e := b.take(t, "r-1", "tx-1")
	gone := deletions.Gone{
		Transactions: []lethe.Pseudonym{{2}, {1}, {2}},
		Features:     []deletions.GoneFeatures{{Of: lethe.Pseudonym{3}, Columns: []int{7}}},
	}
	for range 2 {
		_, err := b.ledger.UpdateAll([]string{"r-1"}, func(_ int, p *deletions.Progress) {
			p.Found = gone.Commit(secret, e.Digest)
		})
		require.NoError(t, err)
		b.reopen(t, "ours")
	}
	require.Equal(t, []string{"request", "found"}, leaves(t, b))
	salt := deletions.FoundSalt(secret, e.Digest)
	require.NoError(t, b.log.Each(func(_ int64, leaf translog.Leaf) error {
		if found, ok := leaf.(translog.Found); ok {
			require.Equal(t, e.Digest, found.Request)
			require.Len(t, found.All(), 4)
			require.Contains(t, found.Transactions, deletions.Commitment(salt, lethe.Pseudonym{1}))
			require.Contains(t, found.Features, deletions.FeatureCommitment(salt, lethe.Pseudonym{3}, 7))
		}
		return nil
	}))
	many := make([]lethe.Pseudonym, 5000)
	for i := range many {
		many[i] = lethe.Pseudonym{byte(i), byte(i >> 8)}
	}
	found := deletions.Gone{Transactions: many}.Commit(secret, e.Digest)
	require.Equal(t, 5000, len(found.All())+found.LeftOut, "it is said what did not go into the leaf")
	_, err := translog.Encode(translog.Found{Request: e.Digest, Found: *found})
	require.NoError(t, err)
	require.Nil(t, deletions.Gone{}.Commit(secret, e.Digest))
}

// A request that names payments alone commits to no transaction, but to who paid whom.
func TestARequestForAPaymentCommitsToBothEnds(t *testing.T) {
	b := newBook(t, "ours")
	fresh, err := deletions.NewEntry(secret, lethe.ErasureRequest{
		RequestID: "r-1", Targets: []lethe.Target{lethe.PaymentBetween("tx-1", "tx-2")},
	}, b.now)
	require.NoError(t, err)
	require.Empty(t, fresh.Commitments)
	_, _, err = b.ledger.TakeAll([]deletions.Entry{fresh})
	require.NoError(t, err)
	require.Equal(t, []string{"request"}, leaves(t, b))
	salts := deletions.Salts(secret, fresh.Digest, 1)
	require.NoError(t, b.log.Each(func(_ int64, leaf translog.Leaf) error {
		request := leaf.(translog.Request)
		require.Empty(t, request.Commitments)
		require.Equal(t, deletions.SaltsDigest(salts), request.Salts)
		require.Equal(t, []lethe.Digest{deletions.PaymentCommitment(salts[0], secret.Pseudonym("tx-1"),
			secret.Pseudonym("tx-2"))}, request.Payments)
		require.NotContains(t, request.Payments, deletions.PaymentCommitment(salts[0], secret.Pseudonym("tx-2"),
			secret.Pseudonym("tx-1")))
		return nil
	}))
}

func TestTheLogHoldsNothingPersonal(t *testing.T) {
	b := newBook(t, "ours")
	b.take(t, "customer-4711", "tx-personal")
	for key, value := range b.kv.Rows {
		if !strings.HasPrefix(key, "log/") {
			continue
		}
		for _, secretly := range []string{"customer-4711", "tx-personal", "mail", secret.Pseudonym("tx-personal").String()} {
			require.NotContains(t, string(value), secretly)
		}
	}
}

// A ledger's change and its leaf are in one write: whatever happens to it, both are there or
// neither, and it is made again once.
func TestAFailedWriteLeavesLedgerAndLogTogether(t *testing.T) {
	for _, keep := range []bool{false, true} {
		b := newBook(t, "ours")
		b.take(t, "r-1", "tx-1")
		b.kv.FailPut, b.kv.KeepFailed = b.kv.Puts+1, keep
		_, err := b.ledger.TransitionAll([]string{"r-1"}, deletions.Accepted, nil)
		require.ErrorIs(t, err, memorykv.ErrPut)
		e, err := b.ledger.Get("r-1")
		require.NoError(t, err)
		require.Equal(t, len(e.History), len(leaves(t, b)), "kept: %t", keep)
		if !keep {
			_, err = b.ledger.TransitionAll([]string{"r-1"}, deletions.Accepted, nil)
			require.NoError(t, err)
		}
		_, err = b.ledger.TransitionAll([]string{"r-1"}, deletions.Suppressed, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"request", "transition accepted", "transition suppressed"}, leaves(t, b))
		b.reopen(t, "ours")
		_, err = b.log.Checkpoint()
		require.NoError(t, err)
	}
}

func TestWhatWasNotWrittenDownIsOnce(t *testing.T) {
	b := newBook(t, "ours")
	b.ledger.Keep(nil)
	b.take(t, "r-1", "tx-1")
	b.carryOut(t, "r-1")
	e, err := b.ledger.Get("r-1")
	require.NoError(t, err)
	for range 2 {
		b.reopen(t, "ours")
		require.NoError(t, b.log.Write(deletions.Changes{Entries: []deletions.Entry{e}}, nil, b.kv.Put))
		require.Len(t, leaves(t, b), len(e.History))
	}
}

func TestALedgerThatIsBehindItsLogIsRefused(t *testing.T) {
	b := newBook(t, "ours")
	before := b.take(t, "r-1", "tx-1")
	b.carryOut(t, "r-1")
	err := b.log.Write(deletions.Changes{Entries: []deletions.Entry{before}}, nil, b.kv.Put)
	var refusal *translog.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, translog.StatementLedger, refusal.Statement)
}

func TestWhatIsRepeatedIsThereOnce(t *testing.T) {
	b := newBook(t, "ours")
	slice := func(i int) translog.Leaf {
		return translog.Slice{Timestep: 1, Shard: lethe.ShardID(i), Revision: 1, Digest: digestOf("s%d", i)}
	}
	require.NoError(t, b.log.Append(slice(0), slice(1), slice(0)))
	b.reopen(t, "ours")
	require.NoError(t, b.log.Append(slice(1), slice(2)))
	require.Len(t, leaves(t, b), 3)
	require.Error(t, b.log.Append(every()[2]), "transitions are the ledger's")
}

// Whoever can write to the store can change it, but not sign it.
func TestAStoreThatWasChangedIsRefused(t *testing.T) {
	key := func(i string) string { return "log/leaf/000000000000000" + i }
	for name, c := range map[string]struct {
		change func(rows map[string][]byte)
		want   translog.Statement
	}{
		"a leaf dropped":  {func(r map[string][]byte) { delete(r, key("1")) }, translog.StatementTree},
		"the end dropped": {func(r map[string][]byte) { delete(r, key("7")) }, translog.StatementTree},
		"leaves swapped": {
			func(r map[string][]byte) { r[key("1")], r[key("2")] = r[key("2")], r[key("1")] }, translog.StatementTree,
		},
		"a leaf altered":     {func(r map[string][]byte) { r[key("1")][20] ^= 1 }, translog.StatementTree},
		"checkpoint dropped": {func(r map[string][]byte) { delete(r, "log/checkpoint") }, translog.StatementCheckpoint},
		"checkpoint altered": {func(r map[string][]byte) { r["log/checkpoint"][20] ^= 1 }, translog.StatementCheckpoint},
	} {
		b := newBook(t, "ours")
		b.take(t, "r-1", "tx-1")
		b.carryOut(t, "r-1")
		c.change(b.kv.Rows)
		b.reopen(t, "ours")
		_, err := b.log.Checkpoint()
		var refusal *translog.Refusal
		require.ErrorAs(t, err, &refusal, name)
		require.Equal(t, c.want, refusal.Statement, name)
	}
	b := newBook(t, "ours")
	b.take(t, "r-1", "tx-1")
	b.reopen(t, "theirs")
	_, err := b.log.Checkpoint()
	require.ErrorContains(t, err, string(translog.StatementCheckpoint))
}
