package coordinator

import (
	"crypto/ed25519"
	"sync"

	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/pipeline/wire"
)

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
