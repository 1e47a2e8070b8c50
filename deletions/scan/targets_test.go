package scan_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/deletions/scan"
	"lethe/ingest"
)

// A payment is found in whatever way JSON says it: source and target of one object, in
// either order, around other fields. Neither end alone says anything, nor do the ends of two
// payments.
func TestAPaymentIsFoundInEverySpelling(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		letters := rapid.SampledFrom([]rune(`abc019-_/éß日😀`))
		draw := func(name string) lethe.TransactionID {
			return lethe.TransactionID(rapid.StringOfN(letters, 1, 9, -1).Draw(rt, name))
		}
		source, target, other := draw("source"), draw("target"), draw("other")
		if source == target || other == source || other == target {
			return
		}
		sc := scannerOf(rt, targetPrints(rt, lethe.PaymentBetween(source, target))...)
		shape := rapid.SampledFrom([]string{
			`{"type":"payment","source":"%[1]s","target":"%[2]s","timestep":1}`,
			`{"target" : "%[2]s" , "x":{"source":"y","target":"z"}, "source":"%[1]s"}`,
			`{"source":"%[1]s","x":[{"a":"b"}],"timestep":3,"target":"%[2]s"}`,
			`[{"source":"x","target":"y"},{"source":"%[1]s","target":"%[2]s"}]`,
			`["%[1]s>%[2]s"]`, `{"x":"%[1]s\u003e%[2]s"}`,
			`{"type":"payment","source":"%[1]s","target":"%[2]s",`,
			`x{"target":"%[2]s"}{"source":"%[1]s"`,
			`"{"target" : "%[2]s" , "source":"%[1]s"`,
		}).Draw(rt, "shape")
		text := func(a, b lethe.TransactionID) []byte {
			return fmt.Appendf(nil, shape, spelling(rt, string(a)), spelling(rt, string(b)))
		}
		// Bytes that end at a sign are found in longer ids, as those of ids are; what JSON says
		// is compared whole.
		said := func(text []byte) (n int) {
			for _, hit := range sc.MatchText(text) {
				if hit.Kind == scan.KindPaymentKey {
					n++
				}
			}
			return n
		}
		require.NotZero(rt, said(text(source, target)))
		if !json.Valid(text(source, target)) {
			return // of what is broken, more counts
		}
		require.Zero(rt, said(text(source, other)))
		require.Zero(rt, said(text(other, target)))
		require.Zero(rt, said(text(target, source)))
		apart := fmt.Sprintf(`{"payments":[{"source":"%s","target":"%s"},{"source":"%s","target":"%s"}],"x":"%s"}`,
			spelling(rt, string(source)), spelling(rt, string(other)), spelling(rt, string(other)),
			spelling(rt, string(target)), spelling(rt, string(source)))
		require.Zero(rt, said([]byte(apart)))
	})
}

// Keys and lethe's own bytes of a payment are found, those of the way back are not.
func TestAPaymentIsFoundInBytes(t *testing.T) {
	for _, ids := range [][2]lethe.TransactionID{{"a", "b"}, {"tx-1001", "tx-2002"}, {"node", "edge"}} {
		prints, notSearched, err := scan.TargetFingerprints(testSecret, lethe.PaymentBetween(ids[0], ids[1]))
		require.NoError(t, err)
		require.Empty(t, notSearched)
		sc := scannerOf(t, prints...)
		for forth, of := range map[bool][2]lethe.TransactionID{true: ids, false: {ids[1], ids[0]}} {
			key, value, err := ingest.EncodePayment(lethe.Payment{Source: of[0], Target: of[1], Timestep: 7})
			require.NoError(t, err)
			framed := []byte("x")
			for _, id := range of {
				framed = append(binary.BigEndian.AppendUint32(framed, uint32(len(id))), id...)
			}
			require.Equal(t, forth, len(sc.MatchKey(key)) > 0, "%s as a key", ids)
			require.Equal(t, forth, len(sc.ScanBytes(value)) > 0, "%s as JSON", ids)
			require.Equal(t, forth, len(sc.ScanBytes(framed)) > 0, "%s framed", ids)
			require.Equal(t, forth, len(sc.MatchRecord(key, value)) > 0)
		}
		require.Empty(t, sc.MatchRecord([]byte(ids[0]), []byte(ids[1])))
	}
}

// A subject counts among the subjects of a record up to its timestep, however it is spelled;
// in later records, other fields and longer strings it says nothing.
func TestASubjectIsFoundInWhatCarriesIt(t *testing.T) {
	const until = 7
	sc := scannerOf(t, targetPrints(t, lethe.SubjectThrough("cust/1 é", until))...)
	texts := func(text string) (hits int) {
		for _, hit := range sc.MatchText([]byte(text)) {
			if hit.Kind == scan.KindSubject {
				hits++
			}
		}
		return hits
	}
	for _, spelled := range []string{`cust/1 é`, `cust\/1 \u00e9`, `\u0063ust/1 é`} {
		record := `{"type":"transaction","timestep":%d,"subjects":["x","%s"],"id":"a"}`
		require.Equal(t, 1, texts(fmt.Sprintf(record, until, spelled)), spelled)
		require.Equal(t, 1, texts(fmt.Sprintf(record, 0, spelled)), spelled)
		require.Zero(t, texts(fmt.Sprintf(record, until+1, spelled)), spelled)
		require.Equal(t, 1, texts(fmt.Sprintf(`{"\u0073ubjects":["%s"],"timestep":"no number"}`, spelled)))
		require.Equal(t, 1, texts(fmt.Sprintf(`{"type":"erasure","subjects":["%s"],"until":9}`, spelled)))
		require.Equal(t, 1, texts(fmt.Sprintf(`{"timestep":9,"subjects":["%s"`, spelled)), "broken")
		require.Zero(t, texts(fmt.Sprintf(`{"timestep":1,"subjects":["%s-1"],"customer":"%s"}`, spelled, spelled)))
	}
	later := []byte(`{"type":"payment","timestep":8,"subjects":["cust/1 é"]}`)
	require.Empty(t, sc.MatchRecord([]byte("a>b"), later), "it is taken")
	require.Len(t, sc.ScanBytes([]byte("\x00cust/1 é\x00")), 1)
	require.Equal(t, scan.KindSubjectKey, sc.ScanBytes([]byte("\x00cust/1 é\x00"))[0].Kind)
}
