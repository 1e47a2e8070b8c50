package coordinator

import (
	"crypto/ed25519"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

type fakeNotes struct {
	d         *deployment
	next      int64
	concluded map[string]bool
	// read is how far the present process has been handed erasures.v1.
	read int64
}

func (n *fakeNotes) Commit(_ bus.TopicPartition, next int64) error {
	return n.d.call(func() error { n.next = next; return nil }, "commit up to %d", next)
}

// Taken implements Notes: the graphs have taken all that is in the topics.
func (n *fakeNotes) Taken() map[int]int64 { return map[int]int64{0: math.MaxInt64} }

func (n *fakeNotes) Concluded(requestID string) (bool, error) { return n.concluded[requestID], nil }

func (n *fakeNotes) Conclude(requestIDs ...string) error {
	return n.d.call(func() error {
		for _, id := range requestIDs {
			n.concluded[id] = true
		}
		return nil
	}, "note that %s is concluded", strings.Join(requestIDs, ", "))
}

type fakeReceipts struct {
	d    *deployment
	kept map[string][]byte
}

func (r fakeReceipts) Has(requestID string) (bool, error) { return r.kept[requestID] != nil, nil }

func (r fakeReceipts) Keep(signed map[string][]byte) error {
	whose := strings.Join(slices.Sorted(maps.Keys(signed)), ", ")
	return r.d.call(func() error { maps.Copy(r.kept, signed); return nil }, "keep receipt of %s", whose)
}

// testKey signs receipts.
var testKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// memo keeps what bytes were found to say: the runs of a test send nearly the same, and
// decoding them is most of what they cost.
type memo struct{ notices, receipts sync.Map }

// notice is what a record of control.v1 says. The caller changes nothing of it.
func (m *memo) notice(reader *wire.NoticeReader, rec ingest.Record) (wire.Notice, error) {
	bytes := string(rec.Key) + "\x00" + string(rec.Value)
	if known, ok := m.notices.Load(bytes); ok && !rec.Tombstone() {
		return known.(wire.Notice), nil
	}
	n, err := reader.Read(rec)
	if part := n == (wire.Notice{}); err == nil && !rec.Tombstone() && !part {
		m.notices.Store(bytes, n)
	}
	return n, err
}

// receipt is a signed receipt and whether it is valid.
func (m *memo) receipt(signed []byte) (receipt.Receipt, receipt.Verification, error) {
	type verified struct {
		receipt.Receipt
		receipt.Verification
	}
	if known, ok := m.receipts.Load(string(signed)); ok {
		return known.(verified).Receipt, known.(verified).Verification, nil
	}
	r, v, err := receipt.Verify(signed, receipt.Pinned(testKey.Public().(ed25519.PublicKey)))
	if err == nil {
		m.receipts.Store(string(signed), verified{r, v})
	}
	return r, v, err
}
