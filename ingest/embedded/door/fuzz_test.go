package door

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func testDoor() *Listener {
	return &Listener{
		o: Options{OwnTopic: func(name string) bool { return strings.HasPrefix(name, "own") }}, large: make(chan struct{}, 1),
		inflating: make(chan struct{}, 1), warn: warner{to: slog.New(slog.DiscardHandler)},
	}
}

// requestOf is a request behind its header.
func requestOf(m kmsg.Request) []byte {
	raw := binary.BigEndian.AppendUint16(nil, uint16(m.Key()))
	raw = binary.BigEndian.AppendUint16(raw, uint16(m.GetVersion()))
	raw = append(raw, 0, 0, 0, 1, 0, 1, 'c')
	if m.IsFlexible() {
		raw = append(raw, 0)
	}
	return m.AppendTo(raw)
}

func framed(raw []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...)
}

// Every request that a client makes in a version that is served passes as it is.
func TestCheck_ServedRequest_PassesUnchanged(t *testing.T) {
	l := testDoor()
	for key, newest := range served {
		for version := range newest + 1 {
			m := kmsg.RequestForKey(int16(key))
			m.SetVersion(version)
			if m, ok := m.(*kmsg.MetadataRequest); ok {
				topic := kmsg.NewMetadataRequestTopic()
				topic.Topic = kmsg.StringPtr("t")
				m.Topics = append(m.Topics, topic, topic)
			}
			if key == kmsg.Produce && version < 3 {
				continue
			}
			raw := requestOf(m)
			got, err := l.check(raw)
			require.NoError(t, err, "%s %d", key.Name(), version)
			require.Equal(t, raw, got.frame)
			if key == kmsg.Metadata && version > 10 {
				raw = append(raw, 0, 0, 0)
				_, err = l.check(raw)
				require.NoError(t, err, "librdkafka sends three bytes more")
			}
			_, err = l.check(append(raw, 1))
			require.ErrorIs(t, err, errMalformed, "%s %d", key.Name(), version)
		}
	}
}

// FuzzDoor: whatever bytes arrive, nothing panics, and what passes is a request that the broker decodes.
func FuzzDoor(f *testing.F) {
	for key, newest := range served {
		m := kmsg.RequestForKey(int16(key))
		m.SetVersion(newest)
		f.Add(framed(requestOf(m)))
	}
	f.Add([]byte("POST / HTTP/1.1\r\n\r\n"))
	f.Add([]byte{0, 0, 0, 10, 0x7f, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 0xff})
	f.Add([]byte{0, 0, 0, 15, 0, 3, 0, 12, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f})
	produce := kmsg.NewPtrProduceRequest()
	produce.Version = 8
	topic, part := kmsg.NewProduceRequestTopic(), kmsg.NewProduceRequestTopicPartition()
	topic.Topic, part.Records = "t", make([]byte, 80)
	topic.Partitions = append(topic.Partitions, part)
	produce.Topics = append(produce.Topics, topic)
	f.Add(framed(requestOf(produce)))
	remove := kmsg.NewPtrDeleteTopicsRequest()
	remove.Version, remove.TopicNames = 3, []string{"own.t", "other"}
	f.Add(framed(requestOf(remove)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		l := testDoor()
		r := reader{from: bufio.NewReader(bytes.NewReader(raw)), hold: func(int) bool { return true }}
		for {
			size, err := r.length()
			if err != nil {
				return
			}
			frame, err := r.body(size)
			if err != nil {
				return
			}
			passed, err := l.check(frame)
			if err != nil {
				require.ErrorIs(t, err, errMalformed)
				return
			}
			requireDecodable(t, passed.frame)
			if passed.edit != nil {
				passed.edit(passed.kind)
			}
			r.release()
		}
	})
}

// requireDecodable decodes a request as kfake does.
func requireDecodable(t *testing.T, frame []byte) {
	t.Helper()
	c := kbin.Reader{Src: frame}
	m := kmsg.RequestForKey(c.Int16())
	require.NotNil(t, m)
	m.SetVersion(c.Int16())
	c.Int32()
	c.NullableString()
	if m.IsFlexible() {
		kmsg.SkipTags(&c)
	}
	require.NoError(t, c.Complete())
	require.NoError(t, m.ReadFrom(c.Src))
}
