package door

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// request encodes a request without its length.
func request(r kmsg.Request, version int16) []byte {
	r.SetVersion(version)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("fuzz")).AppendRequest(nil, r, 7)[4:]
}

// Whatever bytes arrive, the check does not panic, and what it lets pass is parsed by the broker in the same way.
func FuzzCheck(f *testing.F) {
	produce := kmsg.NewPtrProduceRequest()
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic = "lethe.labels.v1"
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = make([]byte, 61)
	topic.Partitions = append(topic.Partitions, partition)
	produce.Topics = append(produce.Topics, topic)
	created := kmsg.NewPtrCreateTopicsRequest()
	created.Topics = append(created.Topics, kmsg.NewCreateTopicsRequestTopic())
	f.Add(request(produce, 8))
	f.Add(request(created, 4))
	f.Add(request(kmsg.NewPtrFetchRequest(), 11))
	f.Add(request(kmsg.NewPtrApiVersionsRequest(), 2))
	f.Add(request(kmsg.NewPtrJoinGroupRequest(), 5))
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Topics = append(metadata.Topics, kmsg.NewMetadataRequestTopic())
	f.Add(request(metadata, 12))
	f.Add(request(metadata, 9))
	f.Add([]byte("POST / HTTP/1.1"))
	o := Defaults(slog.New(slog.DiscardHandler))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) < headerBytes {
			return
		}
		checked, err := check(raw, &o)
		if err != nil || checked.answer != nil {
			return
		}
		reader := kbin.Reader{Src: raw}
		parsed := kmsg.RequestForKey(reader.Int16())
		require.NotNil(t, parsed)
		parsed.SetVersion(reader.Int16())
		reader.Int32()
		reader.NullableString()
		if parsed.IsFlexible() {
			require.IsType(t, &kmsg.MetadataRequest{}, parsed)
			require.Zero(t, reader.Uvarint())
		}
		require.NoError(t, parsed.ReadFrom(reader.Src))
	})
}
