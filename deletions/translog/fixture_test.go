package translog_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/memorykv"
	"lethe/deletions/translog"
)

var (
	epoch  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	secret = lethe.Secret{7}
)

// keyOf is the signing key of a deployment of these tests.
func keyOf(deployment string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(deployment))
	return ed25519.NewKeyFromSeed(seed[:])
}

func publicOf(deployment string) ed25519.PublicKey {
	return keyOf(deployment).Public().(ed25519.PublicKey)
}

func signerOf(t testing.TB, deployment string) translog.Signer {
	signer, err := translog.NewSigner(translog.Name(deployment), keyOf(deployment))
	require.NoError(t, err)
	return signer
}

// book is a ledger with its log in one store.
type book struct {
	kv     *memorykv.KV
	ledger *deletions.Ledger
	log    *translog.Log
	now    time.Time
}

func newBook(t testing.TB, deployment string) *book {
	b := &book{kv: memorykv.New(), now: epoch}
	b.reopen(t, deployment)
	return b
}

// reopen forgets all but what is stored.
func (b *book) reopen(t testing.TB, deployment string) {
	b.ledger = deletions.NewLedger(b.kv, func() time.Time {
		b.now = b.now.Add(time.Second)
		return b.now
	})
	b.log = translog.NewLog(b.kv, signerOf(t, deployment))
	b.ledger.Keep(b.log)
}

// take takes a request for some transactions.
func (b *book) take(t testing.TB, id string, targets ...lethe.TransactionID) deletions.Entry {
	r := lethe.ErasureRequest{RequestID: id, Scope: lethe.ScopeStubs, Reason: "asked by mail", Nonce: "n-" + id}
	for _, target := range targets {
		r.Targets = append(r.Targets, lethe.Target{Kind: lethe.TransactionTarget, Transaction: target})
	}
	e, err := deletions.NewEntry(secret, r, b.now)
	require.NoError(t, err)
	_, _, err = b.ledger.TakeAll([]deletions.Entry{e})
	require.NoError(t, err)
	return e
}

// carryOut takes a request through all states.
func (b *book) carryOut(t testing.TB, id string) {
	for _, to := range []deletions.State{
		deletions.Accepted, deletions.Suppressed, deletions.Rewriting, deletions.Retraining, deletions.Swapped,
		deletions.Erased, deletions.Verified,
	} {
		_, err := b.ledger.TransitionAll([]string{id}, to, nil)
		require.NoError(t, err)
	}
}

func digestOf(text string, args ...any) lethe.Digest {
	return sha256.Sum256(fmt.Appendf(nil, text, args...))
}

// every has a leaf of every kind.
func every() []translog.Leaf {
	return []translog.Leaf{
		translog.Request{Digest: digestOf("r"), Scope: lethe.ScopeStubs, At: epoch, Targets: 2,
			Commitments: []lethe.Digest{digestOf("c0"), digestOf("c1")}, Salts: digestOf("salts")},
		translog.Request{Digest: digestOf("q"), Scope: lethe.ScopeShard, At: epoch, Targets: 1,
			Commitments: []lethe.Digest{}},
		translog.Transition{Request: digestOf("r"), State: deletions.Accepted, At: epoch},
		translog.Transition{Request: digestOf("r"), State: deletions.Failed, Failure: deletions.FailedDisk, At: epoch},
		translog.Operator{Action: translog.ActionTakeOver, At: epoch, Detail: digestOf("d")},
		translog.Operator{Action: translog.ActionHold, At: epoch, Detail: digestOf("d"), Request: digestOf("r")},
		translog.Receipt{Request: digestOf("r"), Payload: digestOf("p")},
		translog.Setup{Digest: digestOf("setup")},
		translog.Slice{Timestep: 35, Shard: 3, Revision: 1, Digest: digestOf("s1")},
		translog.Slice{Timestep: 35, Shard: 3, Revision: 2, Digest: digestOf("s2"), Replaces: digestOf("s1")},
		translog.Checkpoint{Component: 1, Group: 2, Timestep: 35, Lineage: digestOf("l"), Digest: digestOf("m")},
		translog.Request{Digest: digestOf("p"), Scope: lethe.ScopeStubs, At: epoch, Targets: 3,
			Commitments: []lethe.Digest{digestOf("c0")}, Payments: []lethe.Digest{digestOf("c1")}, Salts: digestOf("salts")},
		translog.Operator{Action: translog.ActionRotateKey, At: epoch, Key: &translog.Introduction{
			From: publicOf("ours"), To: publicOf("second"), Signature: make([]byte, 64),
		}},
		translog.Found{Request: digestOf("r"), Found: deletions.Found{
			Transactions: []lethe.Digest{digestOf("c0")}, Features: []lethe.Digest{digestOf("c1")},
			Pairs: []lethe.Digest{digestOf("c2")}, PairStubs: []lethe.Digest{digestOf("c3")},
			Stubs: []lethe.Digest{digestOf("c4")}, LeftOut: 5, Salt: digestOf("salt"),
		}},
		translog.Access{Deed: translog.DeedLook, At: epoch, Actor: translog.ActorHash(secret, "anna"),
			Request: translog.RequestHash(secret, "r-1")},
		translog.Access{Deed: translog.DeedReplay, At: epoch, Count: 3},
	}
}
