package ingest_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"lethe"
	"lethe/ingest"
)

const schema = 7

func sampleTransaction() lethe.Transaction {
	return lethe.Transaction{
		ID: "déjà-vu", Timestep: 3, Features: []float32{0.123456, -2, lethe.Missing(), 0}, Subjects: []string{"Ann", "Bo"},
	}
}

// field is a field of Protobuf that holds a text.
func text(number protowire.Number, content string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

func number(number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
}

// framed is a message of the schema, by its place.
func framed(index int, fields ...[]byte) []byte {
	out := binary.BigEndian.AppendUint32([]byte{0}, schema)
	if index == 0 {
		out = append(out, 0)
	} else {
		out = append(out, 2, byte(2*index))
	}
	return append(out, slices.Concat(fields...)...)
}

func decodeValue(key string, value []byte) (ingest.Event, error) {
	return ingest.DecodeTransactions(ingest.Record{Key: []byte(key), Value: value}, ingest.DefaultLimits())
}

// What is written in either format is read as the same.
func TestBothFormatsSayTheSame(t *testing.T) {
	for name, encode := range map[string]func(e ingest.Encoding) ([]byte, []byte, error){
		"transaction": func(e ingest.Encoding) ([]byte, []byte, error) { return e.Transaction(sampleTransaction()) },
		"payment": func(e ingest.Encoding) ([]byte, []byte, error) {
			return e.Payment(lethe.Payment{Source: "a", Target: "b", Timestep: 1 << 53})
		},
		"close": func(e ingest.Encoding) ([]byte, []byte, error) {
			key, value := e.Close(0, 0)
			return key, value, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			key, spelled, err := encode(ingest.Encoding{})
			require.NoError(t, err)
			want, err := decodeValue(string(key), spelled)
			require.NoError(t, err)
			key, value, err := encode(ingest.Protobuf(schema))
			require.NoError(t, err)
			require.Equal(t, []byte{0, 0, 0, 0, schema}, value[:5])
			got, err := decodeValue(string(key), value)
			require.NoError(t, err)
			if tr, is := got.(ingest.Transaction); is {
				require.True(t, lethe.IsMissing(tr.Features[2])) // NaN, not equal to itself
				tr.Features[2], want.(ingest.Transaction).Features[2] = 0, 0
			}
			require.Equal(t, want, got)
		})
	}
}

func TestBinaryRecordsThatAreRefused(t *testing.T) {
	id, step := text(1, "a"), number(2, 1)
	features := text(3, "\x00\x00\x80\x3f")
	for name, c := range map[string]struct {
		value []byte
		want  ingest.Reason
	}{
		"cut in its header":    {[]byte{0, 0, 0}, ingest.Unparseable},
		"no message":           {[]byte{0, 0, 0, 0, 1}, ingest.Unparseable},
		"cut in a tag":         {append(framed(0, id, step, features), 0x80), ingest.Unparseable},
		"cut in a field":       {append(framed(0, step, features), 0x0a, 9, 'x'), ingest.Unparseable},
		"no UTF-8":             {framed(0, text(1, "\xff"), step, features), ingest.Unparseable},
		"another message":      {framed(3, id), ingest.UnknownType},
		"a nested message":     {[]byte{0, 0, 0, 0, 1, 4, 0, 0}, ingest.UnknownType},
		"no id":                {framed(0, step, features), ingest.MissingField},
		"no timestep":          {framed(0, id, features), ingest.MissingField},
		"no features":          {framed(0, id, step), ingest.MissingField},
		"an empty row":         {framed(0, id, step, text(3, "")), ingest.FeatureCount},
		"half a feature":       {framed(0, id, step, text(3, "\x00\x00")), ingest.BadType},
		"infinite":             {framed(0, id, step, text(3, "\x00\x00\x80\x7f")), ingest.FeatureNotFinite},
		"too large":            {framed(0, id, step, text(3, "\xff\xff\x7f\x7f")), ingest.FeatureMagnitude},
		"a second id":          {framed(0, id, id, step, features), ingest.DuplicateField},
		"a number as id":       {framed(0, number(1, 5), step, features), ingest.BadType},
		"a text as timestep":   {framed(0, id, text(2, "1"), features), ingest.BadType},
		"a timestep too large": {framed(0, id, number(2, 1<<53+1), features), ingest.BadTimestep},
		"another key":          {framed(0, text(1, "b"), step, features), ingest.KeyMismatch},
		"an empty subject":     {framed(0, id, step, features, text(4, "")), ingest.BadSubject},
		"to itself":            {framed(1, text(1, "a"), text(2, "a"), number(3, 1)), ingest.SelfLoop},
		"a close that says more": {
			framed(2, number(1, 1), number(9, 1)), ingest.UnknownField,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeValue("a", c.value)
			var refusal *ingest.Refusal
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, c.want, refusal.Reason, refusal.Detail)
		})
	}
}

func TestSchemaIDs(t *testing.T) {
	key, value, err := ingest.Protobuf(schema).Transaction(sampleTransaction())
	require.NoError(t, err)
	limits := ingest.DefaultLimits()
	for id, taken := range map[int]bool{ingest.AnySchema: true, schema: true, schema + 1: false} {
		limits.SchemaID = id
		_, err := ingest.DecodeTransactions(ingest.Record{Key: key, Value: value}, limits)
		require.Equal(t, taken, err == nil, err)
	}
	limits.SchemaID = schema + 1
	_, err = ingest.DecodeTransactions(ingest.Record{Key: key, Value: value}, limits)
	require.ErrorContains(t, err, "unknown_schema: schema 7, want 8")
}

// Fields of no meaning are ignored, and not kept; features that are erased become 0; both in the
// format that the record came in.
func TestBinaryRecordsAreWrittenAnewAsSuch(t *testing.T) {
	sample := lethe.Transaction{ID: "a", Timestep: 1, Features: []float32{1, 2}}
	_, plain, err := ingest.Protobuf(schema).Transaction(sample)
	require.NoError(t, err)
	value := slices.Concat(plain, text(9, "what is this"), text(4, "Ann"))
	event, err := decodeValue("a", value)
	require.NoError(t, err)
	require.Equal(t, []string{"Ann"}, event.(ingest.Transaction).Subjects)
	kept, err := ingest.Kept(ingest.Record{Key: []byte("a"), Value: value}, event)
	require.NoError(t, err)
	require.Equal(t, plain, kept)

	redacted, changed := ingest.Redacted(plain, func(id lethe.TransactionID) (lethe.Columns, bool) {
		return lethe.Columns{1}, id == "a"
	})
	require.True(t, changed)
	sample.Features[1] = 0
	_, want, err := ingest.Protobuf(schema).Transaction(sample)
	require.NoError(t, err)
	require.Equal(t, want, redacted)
}

// Features may come one by one, as older serializers write them.
func TestFeaturesThatAreNotPacked(t *testing.T) {
	one := protowire.AppendFixed32(protowire.AppendTag(nil, 3, protowire.Fixed32Type), math.Float32bits(1.5))
	event, err := decodeValue("a", framed(0, text(1, "a"), one, number(2, 1), one))
	require.NoError(t, err)
	require.Equal(t, []float32{1.5, 1.5}, event.(ingest.Transaction).Features)
}

// The schema that producers compile is the one that is read.
func TestProtobufSchemaIsWhatIsRead(t *testing.T) {
	content, err := os.ReadFile("schemas/transactions.v1.proto")
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^(?:message (\w+)|  (?:optional|repeated) (\w+) (\w+) = (\d+);)`)
	var said []string
	for _, m := range found.FindAllStringSubmatch(string(content), -1) {
		said = append(said, m[1]+m[2]+" "+m[3]+m[4])
	}
	require.Equal(t, []string{
		"Transaction ", "string id1", "uint64 timestep2", "float features3", "string subjects4",
		"Payment ", "string source1", "string target2", "uint64 timestep3", "string subjects4",
		"Close ", "uint64 timestep1",
	}, said)
}

func FuzzBinaryRecord(f *testing.F) {
	key, value, err := ingest.Protobuf(schema).Transaction(sampleTransaction())
	require.NoError(f, err)
	f.Add(string(key), value)
	f.Add("a>b", framed(1, text(1, "a"), text(2, "b"), number(3, 1)))
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		value = append([]byte{0}, value...)
		event, err := decodeValue(key, value)
		ingest.Record{Value: value}.Parts()
		tr, is := event.(ingest.Transaction)
		if err != nil || !is {
			return
		}
		again, value, err := ingest.Protobuf(schema).Transaction(tr.Transaction)
		require.NoError(t, err)
		require.Equal(t, key, string(again))
		_, err = decodeValue(key, value)
		require.NoError(t, err)
	})
}

// A decoder that uses its memory again says of every record what decoding it alone says, however many there are and
// however many features they have.
func TestADecoderUsesItsMemoryAgain(t *testing.T) {
	var d ingest.Decoder
	limits := ingest.DefaultLimits()
	for round := range 4 {
		d.Reset()
		var got, want []ingest.Event
		for i := range 300 {
			tr := sampleTransaction()
			tr.ID = lethe.TransactionID(fmt.Sprintf("t-%d-%d", round, i))
			tr.Features = make([]float32, 1+(i*round)%700)
			for j := range tr.Features {
				tr.Features[j] = float32(i*j + round)
			}
			if i%7 == 0 {
				tr.Subjects = nil
			}
			encoding := ingest.Encoding{}
			if i%2 == 0 {
				encoding = ingest.Protobuf(schema)
			}
			key, value, err := encoding.Transaction(tr)
			require.NoError(t, err)
			rec := ingest.Record{Key: key, Value: value}
			alone, err := ingest.DecodeTransactions(rec, limits)
			require.NoError(t, err)
			event, err := d.Transactions(rec, limits)
			require.NoError(t, err)
			got, want = append(got, event), append(want, alone)
		}
		require.Equal(t, want, got)
	}
}

// Records of Confluent's other serializers are rejected with the serializer's name (B18).
func TestDecodeTransactions_OtherSerializers_AreNamed(t *testing.T) {
	header := []byte{0, 0, 0, 0, 7}
	avro := append(slices.Clone(header), "\x16transaction\x0apay-1\x12\x02\x04\x00\x00\x00\x00\x00\x00\xf0\x3f\x00"...)
	for name, c := range map[string]struct{ value, want string }{
		"JSON Schema": {string(header) + `{"type":"transaction","id":"pay-1","timestep":9,"features":[1]}`,
			"JSON Schema serializer, which adds 5 bytes"},
		"Avro":                   {string(avro), "Avro serializer, send JSON or Protobuf"},
		"Avro with a short name": {string(header) + "\x02\x02a\x12\x00", "Avro serializer"},
	} {
		rec := ingest.Record{Key: []byte("pay-1"), Value: []byte(c.value)}
		_, err := ingest.DecodeTransactions(rec, ingest.DefaultLimits())
		var refusal *ingest.Refusal
		require.ErrorAs(t, err, &refusal, name)
		require.Contains(t, refusal.Detail, c.want, name)
		require.NotContains(t, refusal.Detail, "pay-1", name)
	}
	for _, value := range []string{string(header) + `{"type":"label"}`, string(avro)} {
		_, err := ingest.DecodeLabels(ingest.Record{Key: []byte("pay-1"), Value: []byte(value)}, ingest.DefaultLimits())
		require.ErrorContains(t, err, "Confluent's")
	}
}
