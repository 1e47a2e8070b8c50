package service_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/residue"
	"lethe/service"
	"lethe/service/servicetest"
)

// What came as Protobuf is erased as what came as JSON is: transactions, payments, features, what carries a subject
// and what became a dead letter, found by what the records say. Records without erased features stay Protobuf
// under the schema that they had.
func TestRecordsInProtobufAreErased(t *testing.T) {
	t.Parallel()
	const schema, customer = 7, "customer-with-protobuf"
	encoding := ingest.Protobuf(schema)
	stream := servicetest.SmallStream(t, 4, 60, 31)
	plain := servicetest.Step(stream, 2).Transactions[0].ID
	carried := &servicetest.Step(stream, 3).Transactions[1]
	carried.Subjects = []string{customer}
	zeroed := servicetest.Step(stream, 2).Transactions[5]
	paid := servicetest.Step(stream, 3).Payments[0]
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	_, err := service.Replay(t.Context(), s.Client(), stream, service.ReplayOptions{Encoding: encoding})
	require.NoError(t, err)
	s.Await(func(st *service.Status) bool { return st.TrainedThrough == 4 && st.LagRecords == 0 })

	// In no graph: of another number of features, of an unknown type, cut short, and with its name in a field that
	// the schema does not have.
	_, short, err := encoding.Transaction(lethe.Transaction{ID: "letter-of-width", Timestep: 5, Features: []float32{1}})
	send(s, bus.Transactions)([]byte("letter-of-width"), short, err)
	_, cut, err := encoding.Transaction(lethe.Transaction{ID: "letter-cut-short", Timestep: 5, Features: zeroed.Features})
	send(s, bus.Transactions)([]byte("letter-cut-short"), cut[:len(cut)-3], err)
	_, other, err := encoding.Transaction(lethe.Transaction{ID: "somebody", Timestep: 5, Features: []float32{1}})
	other = append(other, 0x52, byte(len("letter-beside"))) // field 10, a text
	send(s, bus.Transactions)([]byte("somebody"), append(other, "letter-beside"...), err)
	s.Quiet()
	letters := []lethe.TransactionID{"letter-of-width", "letter-cut-short", "letter-beside"}
	require.Len(t, deadLetters(s), len(letters))
	require.NotEmpty(t, servicetest.Left(t, c.DataDir, idForms(letters[0])))

	var forms []residue.Form
	for _, id := range []lethe.TransactionID{plain, carried.ID} {
		forms = append(forms, servicetest.FormsOf(t, c, stream, id)...)
	}
	forms = append(forms, idForms(letters...)...)
	forms = append(forms, residue.Form{Name: "subject", Bytes: []byte(customer)})
	row := make([]byte, 0, 4*len(zeroed.Features))
	for _, v := range zeroed.Features {
		row = binary.LittleEndian.AppendUint32(row, math.Float32bits(v))
	}
	forms = append(forms, residue.Form{Name: "row", Bytes: row})
	require.NotEmpty(t, servicetest.Left(t, c.DataDir, forms[len(forms)-2:]))

	targets := append(lethe.Transactions(plain, letters[0], letters[1], letters[2]),
		lethe.FeaturesOf(zeroed.ID), lethe.PaymentBetween(paid.Source, paid.Target),
		lethe.SubjectThrough(customer, lethe.NoTimestep))
	eraseTargets(s, "binary", targets...)
	for i, outcome := range outcomes(s, "binary") {
		require.Equal(t, deletions.OutcomeErased, outcome, "target %d", i)
	}
	requireClean(s, c.DataDir, forms)
	records := s.Newest(bus.Transactions)
	require.NotContains(t, records, string(paid.Source)+">"+string(paid.Target))
	key := []byte(zeroed.ID)
	rec := ingest.Record{Topic: string(bus.Transactions), Key: key, Value: []byte(records[string(key)])}
	limits := ingest.DefaultLimits()
	limits.SchemaID = schema
	event, err := ingest.DecodeTransactions(rec, limits)
	require.NoError(t, err)
	require.Zero(t, rec.Value[0], "it stays Protobuf")
	require.Equal(t, make([]float32, len(zeroed.Features)), event.(ingest.Transaction).Features)
	s.Stop()
	require.Empty(t, servicetest.Left(t, c.DataDir, forms))
}
