package authority

import (
	"crypto"
	"time"

	"lethe/ingest"
	"lethe/internal/jws"
)

// Signer signs records for one topic.
type Signer struct {
	// Keys sign, each once. Without keys, records are left unchanged.
	Keys []crypto.Signer
	// Topic is the full name of the topic.
	Topic string
	// At is when the signatures are made, Valid how long they are valid; 0 means forever.
	// Signatures of control records never expire, because rebuilding graphs reads them again. All
	// other signatures must expire (Signed.InTime).
	At    time.Time
	Valid time.Duration
}

// Sign returns the record with the signatures of the keys.
func (s Signer) Sign(rec ingest.Outgoing) (ingest.Outgoing, error) {
	if len(s.Keys) == 0 {
		return rec, nil
	}
	h := jws.Header{Type: mediaType, Audience: s.Topic, Subject: string(rec.Key), IssuedAt: s.At.Unix()}
	if s.Valid > 0 {
		h.Expires = s.At.Add(s.Valid).Unix()
	}
	payload := jws.Encode(rec.Value)
	var list []jws.Signature
	for _, key := range s.Keys {
		one, err := jws.SignAs(payload, h, key)
		if err != nil {
			return rec, err
		}
		list = append(list, one)
	}
	text, err := jws.EncodeDetached(list)
	if err != nil {
		return rec, err
	}
	rec.Headers = append(rec.Headers[:len(rec.Headers):len(rec.Headers)], ingest.Header{Key: header, Value: text})
	return rec, nil
}

// Signatures returns the unparsed signatures of a record, by which its writer recognizes it, or
// nil if there are none.
func Signatures(headers []ingest.Header) []byte {
	for _, h := range headers {
		if h.Key == header {
			return h.Value
		}
	}
	return nil
}
