package door

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// request is a checked request.
type request struct {
	// frame is the encoded request for the broker.
	frame []byte
	// edit changes the broker's response; nil leaves it unchanged.
	edit func(kmsg.Response)
	// kind has the type and version of the response.
	kind kmsg.Response
	// silent means that the request has no response.
	silent bool
}

// check checks one request, whose frame it may change. The error is errMalformed.
func (l *Listener) check(frame []byte) (request, error) {
	c := kbin.Reader{Src: frame}
	key, version := c.Int16(), c.Int16()
	c.Int32()    // correlation id
	skipText(&c) // client id
	newest, ok := served[kmsg.Key(key)]
	if !ok {
		return request{}, malformed("unknown request key %d", key)
	}
	if kmsg.Key(key) == kmsg.ApiVersions && version > newest {
		return newerApiVersions(frame, &c, version)
	}
	if version < 0 || version > newest {
		return request{}, malformed("version %d of request key %d", version, key)
	}
	m := kmsg.RequestForKey(key)
	m.SetVersion(version)
	if m.IsFlexible() {
		skipTags(&c)
	}
	if !c.Ok() {
		return request{}, malformed("header of request key %d", key)
	}
	headerBytes := len(frame) - len(c.Src)
	if !structured(m, c) {
		return request{}, malformed("body of request key %d, version %d", key, version)
	}
	if len(frame) > smallBytes && kmsg.Key(key) != kmsg.Produce {
		l.large <- struct{}{}
		defer func() { <-l.large }()
	}
	if err := m.ReadFrom(frame[headerBytes:]); err != nil {
		return request{}, malformed("body of request key %d, version %d", key, version)
	}
	return l.examine(m, frame, headerBytes)
}

// examine checks requests that change data or topics.
func (l *Listener) examine(m kmsg.Request, frame []byte, headerBytes int) (request, error) {
	r := request{frame: frame, kind: m.ResponseKind()}
	changed := false
	switch m := m.(type) {
	case *kmsg.ProduceRequest:
		r.silent = m.Acks == 0
		r.edit = l.produce(m)
		if r.silent && r.edit != nil {
			return request{}, malformed("a batch that cannot be read, in a request without a response")
		}
	case *kmsg.CreateTopicsRequest:
		r.edit, changed = l.createTopics(m)
	case *kmsg.CreatePartitionsRequest:
		r.edit, changed = l.createPartitions(m)
	case *kmsg.DeleteTopicsRequest:
		r.edit, changed = l.deleteTopics(m)
	}
	if changed {
		r.frame = m.AppendTo(append([]byte(nil), frame[:headerBytes]...))
	} else if trailing(m, frame[headerBytes:]) {
		return request{}, malformed("bytes behind request key %d, version %d", m.Key(), m.GetVersion())
	}
	return r, nil
}

// trailing reports whether a body is longer than its decoded content.
func trailing(m kmsg.Request, body []byte) bool {
	if m.Key() == int16(kmsg.Produce) || m.IsFlexible() {
		return false // structured has checked it
	}
	return len(m.AppendTo(nil)) != len(body)
}

// structured reports whether the body of a request has exactly the form of its version. It checks only requests
// that kmsg would decode at a cost beyond their size.
func structured(m kmsg.Request, c kbin.Reader) bool {
	switch m.(type) {
	case *kmsg.ProduceRequest:
		return producible(m.GetVersion(), c)
	case *kmsg.MetadataRequest:
		if m.IsFlexible() {
			return metadata(m.GetVersion(), c)
		}
	case *kmsg.InitProducerIDRequest:
		if m.IsFlexible() {
			return initProducerID(m.GetVersion(), c)
		}
	}
	return true
}

func metadata(version int16, c kbin.Reader) bool {
	for n := c.CompactArrayLen(); n > 0 && c.Ok(); n-- {
		if version >= 10 {
			c.Span(16) // topic id
		}
		c.CompactNullableBytes() // name
		skipTags(&c)
	}
	c.Bool() // auto creation
	if version <= 10 {
		c.Bool() // cluster's operations
	}
	c.Bool() // topics' operations
	skipTags(&c)
	spare := 0
	if version > 10 {
		spare = 3 // librdkafka 2.16 sends up to three bytes more when it requests all topics; kmsg skips them
	}
	return c.Ok() && len(c.Src) <= spare
}

func initProducerID(version int16, c kbin.Reader) bool {
	c.CompactNullableBytes() // transactional id
	c.Int32()                // timeout
	if version >= 3 {
		c.Span(8 + 2) // producer id and epoch
	}
	skipTags(&c)
	return c.Ok() && len(c.Src) == 0
}

// skipText skips a string, which kbin would copy.
func skipText(c *kbin.Reader) { c.Span(int(max(c.Int16(), 0))) }

// skipTags skips tagged fields. kmsg's own loop continues after the end of the bytes, up to 2^32 times.
func skipTags(c *kbin.Reader) {
	for n := c.Uvarint(); n > 0 && c.Ok(); n-- {
		c.Uvarint()
		c.Span(int(c.Uvarint()))
	}
}

// newerApiVersions handles the first request of a client that is newer than the broker. Its body is not
// decoded: the broker responds with its own version, whatever the body is.
func newerApiVersions(frame []byte, c *kbin.Reader, version int16) (request, error) {
	if !c.Ok() {
		return request{}, malformed("header of request key %d", kmsg.ApiVersions)
	}
	m := kmsg.NewPtrApiVersionsRequest()
	m.ClientSoftwareName, m.ClientSoftwareVersion = "unknown", "0"
	m.SetVersion(version)
	out := append([]byte(nil), frame[:len(frame)-len(c.Src)]...)
	binary.BigEndian.PutUint16(out[2:], uint16(version))
	out = append(out, 0) // no tagged fields in the header
	return request{frame: m.AppendTo(out), kind: m.ResponseKind()}, nil
}
