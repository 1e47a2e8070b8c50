package protocol

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// broker answers one request with fixed bytes.
type broker struct {
	io.Reader
	request bytes.Buffer
}

func (b *broker) Write(p []byte) (int, error) { return b.request.Write(p) }

// framed puts the size and the correlation id before a body.
func framed(body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))
	return append(binary.BigEndian.AppendUint32(out, 7), body...)
}

// fetchResponse is a response with the batches of partition 3 of topic t.
func fetchResponse(batches []byte, aborted ...kmsg.FetchResponseTopicPartitionAbortedTransaction) *kmsg.FetchResponse {
	p := kmsg.NewFetchResponseTopicPartition()
	p.Partition, p.RecordBatches, p.AbortedTransactions, p.LastStableOffset = 3, batches, aborted, 99
	topic := kmsg.NewFetchResponseTopic()
	topic.Topic, topic.Partitions = "t", append(topic.Partitions, p)
	r := kmsg.NewPtrFetchResponse()
	r.Version = 11
	r.Topics = append(r.Topics, topic)
	return r
}

var sampleRequest = FetchRequest{Topic: "t", Partition: 3, Position: 1, Wait: time.Second, MaxBytes: 1000}

func fetchFrom(b *broker) (Fetched, error) {
	c := call{request: sampleRequest.message(), clientID: "me", limitBytes: 1 << 20, check: checkFetchCounts}
	message, err := c.RawExchange(b)
	if err != nil {
		return Fetched{}, err
	}
	return sampleRequest.read(message.(*answer).Response.(*kmsg.FetchResponse))
}

func TestFetchAsksForOnePartitionAndReadsIt(t *testing.T) {
	aborted := kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: 5, FirstOffset: 0}
	b := &broker{Reader: bytes.NewReader(framed(fetchResponse(sampleBatch(t, 0), aborted).AppendTo(nil)))}
	got, err := fetchFrom(b)
	require.NoError(t, err)
	require.Len(t, got.Records, 2, "from position 1 on")
	require.Equal(t, int64(3), got.Next)
	require.Equal(t, int64(99), got.End)

	asked := b.request.Bytes()[4+2+2+4+2+len("me"):]
	sent := kmsg.FetchRequest{Version: 11}
	require.NoError(t, sent.ReadFrom(asked))
	require.Equal(t, *sampleRequest.message(), sent)
}

func TestErrorCodesOfABroker(t *testing.T) {
	whole := fetchResponse(nil)
	whole.ErrorCode, whole.Topics = int16(kafka.BrokerNotAvailable), nil
	one := fetchResponse(nil)
	one.Topics[0].Partitions[0].ErrorCode = int16(kafka.OffsetOutOfRange)
	for want, r := range map[kafka.Error]*kmsg.FetchResponse{kafka.BrokerNotAvailable: whole,
		kafka.OffsetOutOfRange: one} {
		_, err := fetchFrom(&broker{Reader: bytes.NewReader(framed(r.AppendTo(nil)))})
		require.ErrorIs(t, err, want)
	}
}

// No size that a broker claims may cost more memory than the bytes it sends.
func TestHostileSizesAreRefused(t *testing.T) {
	huge := func(at int, from []byte) []byte {
		body := slices.Concat(from, make([]byte, 1<<19))
		binary.BigEndian.PutUint32(body[at:], 1<<19)
		return framed(body)
	}
	good := func() []byte { return fetchResponse(nil).AppendTo(nil) }
	for name, answer := range map[string][]byte{
		"announced only":       binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 1<<20), 7),
		"over the limit":       binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 1<<31), 7),
		"another request's":    framed(good())[:7],
		"topics":               huge(10, good()),
		"partitions":           huge(17, good()),
		"aborted transactions": huge(51, good()),
		"cut short":            framed(good()[:30]),
		"no topic":             framed(make([]byte, 14)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := fetchFrom(&broker{Reader: bytes.NewReader(answer)})
		runtime.ReadMemStats(&after)
		require.Error(t, err, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20), name)
	}
}
