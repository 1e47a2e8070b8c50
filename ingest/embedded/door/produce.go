package door

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest/bus/protocol"
)

const (
	batchMagicAt     = 16
	batchCRCAt       = 17
	attributesAt     = 21
	attributeControl = 0x20
	// maxProduced bounds the partitions of one request.
	maxProduced = 10_000
)

// producible reports whether the body of a request with records has the form of its version, without decoding it.
func producible(version int16, c kbin.Reader) bool {
	if version < 3 {
		return false // older than record batches
	}
	skipText(&c) // transactional id
	c.Span(6)    // acks, timeout
	partitions := 0
	for topics := c.Int32(); topics > 0 && c.Ok(); topics-- {
		skipText(&c)
		for n := c.Int32(); n > 0 && c.Ok(); n-- {
			if partitions++; partitions > maxProduced {
				return false
			}
			c.Int32()
			c.NullableBytes()
		}
		if partitions++; partitions > maxProduced {
			return false
		}
	}
	return c.Ok() && len(c.Src) == 0
}

// partition is a partition in a request with records.
type partition struct {
	topic  string
	number int32
}

// produce checks the batches of a request. A batch that must not be stored is changed, in the frame, into one that
// the broker rejects; the returned function puts the reason into the response.
func (l *Listener) produce(m *kmsg.ProduceRequest) func(kmsg.Response) {
	var refused map[partition]error
	for _, t := range m.Topics {
		for _, p := range t.Partitions {
			batch := p.Records
			if !single(batch) {
				continue // the broker rejects it
			}
			err := l.walk(batch)
			if err == nil || !protocol.Intact(batch) {
				continue // the broker rejects a batch that was damaged in transit, and the client retries
			}
			refuse(batch)
			if refused == nil {
				refused = map[partition]error{}
			}
			refused[partition{t.Topic, p.Partition}] = err
			l.warn.log("batch refused", "topic", t.Topic, "partition", p.Partition, "error", err)
		}
	}
	if refused == nil {
		return nil
	}
	return func(response kmsg.Response) { explain(response.(*kmsg.ProduceResponse), refused) }
}

func (l *Listener) walk(batch []byte) error {
	l.inflating <- struct{}{}
	defer func() { <-l.inflating }()
	if l.o.StoreAny {
		return protocol.CheckStored(batch)
	}
	return protocol.CheckProduced(batch)
}

// single reports whether bytes are one batch of format 2, by its length.
func single(batch []byte) bool {
	return len(batch) > 0 && protocol.BatchSize(batch) == len(batch) && batch[batchMagicAt] == 2
}

// refuse marks a batch as one of control records, which the broker accepts from no client.
func refuse(batch []byte) {
	attributes := binary.BigEndian.Uint16(batch[attributesAt:])
	binary.BigEndian.PutUint16(batch[attributesAt:], attributes|attributeControl)
	sum := crc32.Checksum(batch[attributesAt:], crc32.MakeTable(crc32.Castagnoli))
	binary.BigEndian.PutUint32(batch[batchCRCAt:], sum)
}

// explain puts the reasons into a response.
func explain(response *kmsg.ProduceResponse, refused map[partition]error) {
	for i, t := range response.Topics {
		for j := range t.Partitions {
			p := &response.Topics[i].Partitions[j]
			cause, ok := refused[partition{t.Topic, p.Partition}]
			if !ok || p.ErrorCode != kerr.InvalidRecord.Code {
				continue
			}
			if errors.Is(cause, protocol.ErrInflated) {
				p.ErrorCode = kerr.MessageTooLarge.Code
			}
			text := fmt.Sprintf("The batch cannot be stored: %v.", cause)
			p.ErrorMessage = &text
		}
	}
}
