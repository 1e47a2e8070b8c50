package scan_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
	"lethe/internal/normalise"
)

// An id that is a part of another one does not count where that one stands, and counts
// everywhere else.
func TestPartsOfOtherNames(t *testing.T) {
	const id = "order-1"
	long := "order-1-b"
	for _, c := range []struct {
		text string
		want bool
	}{
		{`{"id":"order-1-b","timestep":3}`, false},
		{`{"id" : "order-1-b","timestep":3}`, false},
		{`{"id":"re/order-1","timestep":3}`, false},
		{`{"source":"order-1-b","target":"order-1_c"}`, false},
		{`{"transaction":"order-1-b"}`, false},
		{`{"nodes":["x", "order-1-b","y"]}`, false},
		{`{"subjects":["order-1-b"]}`, false},
		{"{\"id\":\"order-1\ue000b\"}", false},     // of private use: intake takes it
		{"{\"id\":\"order-1\U000e1000b\"}", false}, // not assigned yet
		{kafkaRecord(long, `{"id":"order-1-b"}`), false},
		{kafkaRecord("x>"+long, `{"timestep":1}`), false},
		{kafkaRecord(long+">x", ""), false},
		{kafkaRecord(long, "\x00\x00\x00\x00\x07\x00\x0a\x09"+long), false},
		{"\x09\x00\x00\x00" + long + "abc", false},
		{"\x00\x00\x00\x09" + long, false},

		{`{"id":"order-1","timestep":3}`, true},
		{`{"source":"order-1-b","target":"order-1"}`, true},
		{`{"nodes":["order-1-b","order-1"]}`, true},
		{`{"note":"order-1-b"}`, true},
		{`{"notes":["order-1-b"]}`, true},
		{`{"id":"order-1-b and order-1"}`, true},
		{`{"id":"see order-1-b"}`, true},
		{`{"id":"order-1-b`, true},
		{kafkaRecord(long+">"+id, `{"timestep":1}`), true},
		{kafkaString(long) + "abc", true},
		{"\x0a\x00\x00\x00" + long + " c", true},
		{"\x05\x00\x00\x00" + long, true},
		{"order-1-b", true},
		{"paid for order-1-b", true},
	} {
		require.Equal(t, c.want, len(idScanner(t, id).ScanBytes([]byte(c.text))) > 0, "%q", c.text)
	}
}

func TestPartsOfOtherKeys(t *testing.T) {
	for key, want := range map[string]bool{
		"order-1": true, "order-1-b": false, "x>order-1-b": false, "order-1-b>x": false,
		"order-1-b>order-1": true, "order-1>x": true, "about order-1": true, "a>b>order-1-b": true,
	} {
		require.Equal(t, want, len(idScanner(t, "order-1").MatchKey([]byte(key))) > 0, key)
		value := `{"timestep":1}`
		hits := idScanner(t, "order-1").MatchRecord([]byte(key), []byte(value))
		require.Equal(t, want, len(hits) > 0, key)
	}
}

func TestPartsOfOtherPaymentsAndSubjects(t *testing.T) {
	sc := scannerOf(t, targetPrints(t, lethe.PaymentBetween("order-1", "x-1"))...)
	const value = `{"timestep":1}`
	require.NotEmpty(t, sc.ScanBytes([]byte(kafkaRecord("order-1>x-1", value))))
	require.Empty(t, sc.ScanBytes([]byte(kafkaRecord("order-1>x-1-b", value))))
	require.Empty(t, sc.ScanBytes([]byte(kafkaRecord("re-order-1>x-1", value))))

	sc = scannerOf(t, targetPrints(t, lethe.SubjectThrough("cust-1", 3))...)
	framed := func(s string) []byte { return append(binary.LittleEndian.AppendUint32(nil, uint32(len(s))), s...) }
	require.NotEmpty(t, sc.ScanBytes(framed("cust-1")))
	require.Empty(t, sc.ScanBytes(framed("cust-1-0001")))
	require.NotEmpty(t, sc.ScanBytes([]byte("cust-1-0001")))
}

// A file of raw bytes holds a name as it was sent: where the rule composes names, the decomposed spelling is the name
// too, and where it does not, it is another one's.
func TestSpelledFingerprints_Decomposed_IsFoundInRawBytes(t *testing.T) {
	const composed, decomposed = "caf\u00e9-17", "cafe\u0301-17"
	nfc := normalise.Rule{normalise.NFC}
	for _, c := range []struct {
		target lethe.Target
		raw    string
	}{
		{lethe.Transactions(composed)[0], `{"id":"` + decomposed + `"}`},
		{lethe.PaymentBetween(composed, "x-1"), decomposed + ">x-1"},
		{lethe.SubjectThrough(composed, 3), decomposed},
	} {
		require.Empty(t, scannerOf(t, targetPrints(t, c.target)...).ScanBytes([]byte(c.raw)))
		spelled, notSearched, err := scan.SpelledFingerprints(testSecret, nfc, c.target)
		require.NoError(t, err)
		require.Equal(t, []scan.Kind{scan.KindSpellings}, notSearched, "the accent has a second decomposed form")
		require.NotEmpty(t, scannerOf(t, spelled...).ScanBytes([]byte(c.raw)))
		none, _, err := scan.SpelledFingerprints(testSecret, normalise.Rule{normalise.Trim}, c.target)
		require.NoError(t, err)
		require.Empty(t, none)
	}
}

func TestSpelledFingerprints_SpellingsThatTheRuleTakesForTheName_AreNamedAsNotSearched(t *testing.T) {
	payment, subject := lethe.PaymentBetween("x-1", "order-1"), lethe.SubjectThrough("order-1", 3)
	node, features := lethe.Transactions("order-1")[0], lethe.Target{Kind: lethe.FeaturesTarget, Transaction: "order-1"}
	for _, c := range []struct {
		rule    normalise.Rule
		targets []lethe.Target
		named   bool
	}{
		{nil, []lethe.Target{node, payment, subject}, false},
		{normalise.Rule{normalise.NFC}, []lethe.Target{node, payment, subject}, false},
		{normalise.Rule{normalise.NFC}, lethe.Transactions("K-1"), true}, // Kelvin's sign
		{normalise.Rule{normalise.Casefold}, []lethe.Target{node, payment, subject}, true},
		{normalise.Rule{normalise.Casefold}, []lethe.Target{features}, false},
		{normalise.Rule{normalise.Trim}, []lethe.Target{node, payment, subject}, true},
		{normalise.Rule{normalise.Digits}, []lethe.Target{node, payment, subject}, true},
		{normalise.Rule{normalise.Digits}, lethe.Transactions("order-x"), false},
	} {
		for _, target := range c.targets {
			spelled, notSearched, err := scan.SpelledFingerprints(testSecret, c.rule, target)
			require.NoError(t, err)
			require.Empty(t, spelled)
			require.Equal(t, c.named, slices.Contains(notSearched, scan.KindSpellings), "%v %v", c.rule, target)
		}
	}
}
