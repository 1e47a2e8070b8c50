package scan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"lethe"
	"lethe/ingest"
)

// Binary records are found by what they say, as those in JSON are: by an id, also one too short to
// be searched for as bytes, by the ends of a payment, by features and by subjects, in fields that
// nobody knows, and though they are broken.
func TestBinaryRecordsAreFoundByWhatTheySay(t *testing.T) {
	row := []float32{0.5, -1.25, 3, 4, 5, 6, 7, 8}
	transaction := func(id lethe.TransactionID, features []float32, subjects ...string) []byte {
		_, value, err := ingest.Protobuf(1).Transaction(lethe.Transaction{
			ID: id, Timestep: 3, Features: features, Subjects: subjects,
		})
		require.NoError(t, err)
		return value
	}
	payment := func(source, target lethe.TransactionID) []byte {
		_, value, err := ingest.Protobuf(1).Payment(lethe.Payment{Source: source, Target: target, Timestep: 3})
		require.NoError(t, err)
		return value
	}
	with := func(value []byte, text string) []byte {
		return protowire.AppendString(protowire.AppendTag(value, 15, protowire.BytesType), text)
	}
	inside := string(with(nil, "abc"))
	other := []float32{9, 9, 9, 9, 9, 9, 9, 9}
	short, long := lethe.Transactions("abc")[0], lethe.Transactions("transaction-1")[0]
	pays, carries := lethe.PaymentBetween("x", "y"), lethe.SubjectThrough("Ann", 3)
	for name, c := range map[string]struct {
		target lethe.Target
		value  []byte
		found  bool
	}{
		"a short id":                 {short, transaction("abc", other), true},
		"another short id":           {short, transaction("abd", other), false},
		"a long id":                  {long, transaction("transaction-1", other), true},
		"an id as the end":           {short, payment("z", "abc"), true},
		"a payment":                  {pays, payment("x", "y"), true},
		"the payment back":           {pays, payment("y", "x"), false},
		"a subject":                  {carries, transaction("z", other, "Bo", "Ann"), true},
		"another subject":            {carries, transaction("z", other, "Bo"), false},
		"an unknown field":           {short, with(transaction("z", other), "abc"), true},
		"a message nobody knows":     {short, with(transaction("z", other), inside), true},
		"broken behind it":           {short, append(transaction("abc", other), 0x80), true},
		"an unknown kind of message": {short, []byte("\x00\x00\x00\x00\x01\x02\x14\x0a\x03abc"), true},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scannerOf(t, targetPrints(t, c.target)...)
			rec := ingest.Record{Key: []byte("key"), Value: c.value}
			require.Equal(t, c.found, len(sc.MatchRecord(rec.Key, rec.Parts()...)) > 0)
		})
	}
	sc := scannerOf(t, rowPrints(t, row...)...)
	require.NotEmpty(t, sc.ScanBytes(transaction("z", row)), "a row has the bytes that lethe stores")
	rec := ingest.Record{Value: transaction("z", row)}
	require.NotEmpty(t, sc.MatchRecord(nil, rec.Parts()...))
	rec.Value = transaction("z", other)
	require.Empty(t, sc.MatchRecord(nil, rec.Parts()...))
}
