package deletions_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/memorykv"
	"lethe/deletions/scan"
)

var testSecret = lethe.Secret{1, 2, 3, 4}

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)

func request(id string, nodes ...lethe.TransactionID) lethe.ErasureRequest {
	return lethe.ErasureRequest{RequestID: id, Targets: lethe.Transactions(nodes...), Scope: lethe.ScopeStubs,
		Reason: "asked by Jane Doe"}
}

// Whatever the sequence of moves, the ledger's state is that of the last legal
// one, and what is stored is always valid.
func TestLedgerNeverHoldsAnIllegalHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kv := memorykv.New()
		now := epoch
		ledger := deletions.NewLedger(kv, func() time.Time { return now })
		e, err := ledger.Receive(testSecret, request("r1", "transaction-1"))
		require.NoError(rt, err)
		suppressed := false
		for range rapid.IntRange(0, 40).Draw(rt, "moves") {
			now = now.Add(time.Duration(rapid.IntRange(-5, 9).Draw(rt, "seconds")) * time.Second)
			to := rapid.SampledFrom(deletions.States()).Draw(rt, "to")
			var after deletions.Entry
			switch to {
			case deletions.Failed:
				after, err = ledger.Stop("r1", to, deletions.FailedHits)
			case deletions.Rejected:
				after, err = ledger.Stop("r1", to, deletions.RejectedScope)
			default:
				after, err = ledger.Transition("r1", to, nil)
			}
			if err != nil {
				require.ErrorIs(rt, err, deletions.ErrIllegalTransition)
				require.ErrorContains(rt, err, string(e.State))
				require.ErrorContains(rt, err, string(to))
			} else {
				require.False(rt, e.State.Final(), "nothing follows %s", e.State)
				require.Equal(rt, to, after.State)
				require.False(rt, after.Updated().Before(e.Updated()))
				suppressed = (suppressed || to == deletions.Accepted) && to != deletions.Cancelled && to != deletions.Held
				e = after
			}
			stored, err := ledger.Get("r1")
			require.NoError(rt, err)
			require.Equal(rt, e, stored)
			require.Equal(rt, suppressed, stored.Suppresses(), "suppression is for ever, but for what was cancelled")
		}
	})
}

// Any write may fail, with or without having taken place; doing the same again
// must lead to the same end.
func TestLedgerSurvivesAFailedWriteAnywhere(t *testing.T) {
	drive := func(ledger *deletions.Ledger) error {
		if _, err := ledger.Receive(testSecret, request("r1", "transaction-1")); err != nil {
			return err
		}
		for _, to := range []deletions.State{
			deletions.Accepted, deletions.Suppressed, deletions.Rewriting, deletions.Retraining,
			deletions.Swapped, deletions.Erased, deletions.Verified,
		} {
			e, err := ledger.Get("r1")
			if err != nil {
				return err
			}
			if slices.ContainsFunc(e.History, func(c deletions.Change) bool { return c.State == to }) {
				continue
			}
			if _, err := ledger.Transition("r1", to, func(p *deletions.Progress) { p.Counts.Timesteps++ }); err != nil {
				return err
			}
		}
		return nil
	}
	clock := func() time.Time { return epoch }
	clean := memorykv.New()
	require.NoError(t, drive(deletions.NewLedger(clean, clock)))
	require.Equal(t, 8, clean.Puts)
	for at := 1; at <= clean.Puts; at++ {
		for _, keep := range []bool{false, true} {
			kv := memorykv.New()
			kv.FailPut, kv.KeepFailed = at, keep
			require.ErrorIs(t, drive(deletions.NewLedger(kv, clock)), memorykv.ErrPut)
			require.NoError(t, drive(deletions.NewLedger(kv, clock)), "after a restart")
			require.Equal(t, clean.Rows, kv.Rows, "write %d failed, kept %v", at, keep)
		}
	}
}

func TestEntryHoldsNothingOfTheRecord(t *testing.T) {
	kv := memorykv.New()
	ledger := deletions.NewLedger(kv, func() time.Time { return epoch })
	ids := []lethe.TransactionID{"transaction-77", "42", "12345"}
	_, err := ledger.Receive(testSecret, request("r1", ids...))
	require.NoError(t, err)
	row := []float32{1.5, 2.25, -3}
	s := &lethe.Snapshot{FeatureCount: 3, Features: row,
		Nodes: []lethe.SnapshotNode{{Pseudonym: testSecret.Pseudonym(ids[0]), ID: ids[0]}}}
	forms, err := scan.NodeFingerprints(testSecret, s, []int{0})
	require.NoError(t, err)
	_, err = ledger.Update("r1", func(p *deletions.Progress) {
		p.Fingerprints = append(p.Fingerprints, forms[0].Found...)
	})
	require.NoError(t, err)
	value := kv.Rows["erasure/r1"]
	for _, id := range ids {
		p := testSecret.Pseudonym(id)
		require.NotContains(t, string(value), `"`+string(id))
		require.NotContains(t, string(value), string(id)+`"`)
		require.NotContains(t, string(value), string(p[4:]))
		require.NotContains(t, string(value), p.String()[8:])
	}
	require.NotContains(t, string(value), "transaction-77")
	require.NotContains(t, string(value), "Jane")
	require.NotContains(t, string(value), hex.EncodeToString([]byte("Jane")))
	require.NotContains(t, string(value), "1.5")
	entry, err := ledger.Get("r1")
	require.NoError(t, err)
	scanner, err := scan.NewScanner(testSecret, entry.Progress.Fingerprints)
	require.NoError(t, err)
	require.Empty(t, scanner.ScanBytes(value),
		"the ledger must pass the search that it is the key to")
}

func TestEntryRefusesWhatItDoesNotKnow(t *testing.T) {
	e, err := deletions.NewEntry(testSecret, request("r1", "transaction-1"), epoch)
	require.NoError(t, err)
	data, err := e.Encode()
	require.NoError(t, err)
	again, err := deletions.DecodeEntry(data)
	require.NoError(t, err)
	require.Equal(t, e, again)
	for name, broken := range map[string][]byte{
		"empty":         nil,
		"cut short":     data[:len(data)-1],
		"more":          append(bytes.Clone(data), "{}"...),
		"later version": bytes.Replace(data, []byte("lethe-ledger/1"), []byte("lethe-ledger/2"), 1),
		"unknown field": append([]byte(`{"note":"hello",`), data[1:]...),
		"other state":   bytes.Replace(data, []byte(`"state":"received"}`), []byte(`"state":"verified"}`), 1),
		"other scope":   bytes.Replace(data, []byte(`"stubs"`), []byte(`"world"`), 1),
	} {
		require.NotEqual(t, data, broken, name)
		_, err := deletions.DecodeEntry(broken)
		require.ErrorIs(t, err, deletions.ErrFormat, name)
	}
}

func TestErrorsNeverRepeatAnID(t *testing.T) {
	id := lethe.TransactionID("secret-customer")
	_, err := deletions.NewEntry(testSecret, request("req-"+string(id), id), epoch)
	require.ErrorIs(t, err, deletions.ErrRequest)
	require.NotContains(t, err.Error(), string(id))
}

// The digest is of the content, whatever the order of the targets, and the same
// content submitted twice is told apart by its nonce.
func TestDigestIsOfTheContent(t *testing.T) {
	digest := func(r lethe.ErasureRequest) lethe.Digest {
		d, err := deletions.RequestDigest(r)
		require.NoError(t, err)
		return d
	}
	base := request("r1", "a", "b")
	// That of sha256sum over
	// {"nodes":["a","b"],"nonce":"","reason":"asked by Jane Doe","request_id":"r1","scope":"stubs"}
	require.Equal(t, "428ce98ba09a2f5b6d91b8c794cfead0a6910c5e92a5bd2b7a1aaf06a43e869a", digest(base).String())
	require.Equal(t, digest(base), digest(request("r1", "b", "a")))
	for name, change := range map[string]func(*lethe.ErasureRequest){
		"request id": func(r *lethe.ErasureRequest) { r.RequestID = "r2" },
		"scope":      func(r *lethe.ErasureRequest) { r.Scope = lethe.ScopeShard },
		"reason":     func(r *lethe.ErasureRequest) { r.Reason = "" },
		"nonce":      func(r *lethe.ErasureRequest) { r.Nonce = "0" },
		"targets":    func(r *lethe.ErasureRequest) { r.Targets = lethe.Transactions("a", "c") },
		"fewer":      func(r *lethe.ErasureRequest) { r.Targets = lethe.Transactions("a") },
		"joined":     func(r *lethe.ErasureRequest) { r.Targets = lethe.Transactions("ab") },
	} {
		other := base
		change(&other)
		require.NotEqual(t, digest(base), digest(other), name)
	}
	repeated := base
	repeated.Nonce = "00112233445566778899aabbccddeeff"
	ledger := deletions.NewLedger(memorykv.New(), func() time.Time { return epoch })
	_, err := ledger.Receive(testSecret, base)
	require.NoError(t, err)
	_, err = ledger.Receive(testSecret, repeated)
	require.ErrorIs(t, err, deletions.ErrRepeat)
}

// Requests of a batch move together: if one cannot, or the write fails, none does.
func TestABatchMovesAsAWholeOrNotAtAll(t *testing.T) {
	kv := memorykv.New()
	ledger := deletions.NewLedger(kv, func() time.Time { return epoch })
	ids := []string{"r1", "r2"}
	for _, id := range ids {
		_, err := ledger.Receive(testSecret, request(id, lethe.TransactionID("transaction-"+id)))
		require.NoError(t, err)
	}
	states := func() (out []deletions.State) {
		list, err := ledger.List()
		require.NoError(t, err)
		for _, e := range list {
			out = append(out, e.State)
		}
		return out
	}
	_, err := ledger.Transition("r1", deletions.Accepted, nil)
	require.NoError(t, err)
	_, err = ledger.TransitionAll(ids, deletions.Suppressed, nil)
	require.ErrorIs(t, err, deletions.ErrIllegalTransition)
	require.Equal(t, []deletions.State{deletions.Accepted, deletions.Received}, states())

	_, err = ledger.Transition("r2", deletions.Accepted, nil)
	require.NoError(t, err)
	kv.FailPut = kv.Puts + 1
	_, err = ledger.TransitionAll(ids, deletions.Suppressed, nil)
	require.ErrorIs(t, err, memorykv.ErrPut)
	require.Equal(t, []deletions.State{deletions.Accepted, deletions.Accepted}, states())
	before := kv.Puts
	_, err = ledger.TransitionAll(ids, deletions.Suppressed, nil)
	require.NoError(t, err)
	batch := deletions.Batch{Leader: "r1", Size: 2}
	moved, err := ledger.TransitionAll(ids, deletions.Rewriting, func(_ int, e *deletions.Entry) { e.Batch = batch })
	require.NoError(t, err)
	require.Equal(t, before+2, kv.Puts, "one write each")
	for i, e := range moved {
		require.Equal(t, ids[i], e.RequestID)
		require.Equal(t, "r1", e.Leader())
		require.Equal(t, 2, e.Status().BatchSize)
		stored, err := ledger.Get(e.RequestID)
		require.NoError(t, err)
		require.Equal(t, e, stored)
	}
}
