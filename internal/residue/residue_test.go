package residue_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/internal/residue"
)

var secret = lethe.Secret{1, 2, 3}

func newStream(t *testing.T) *dataset.Stream {
	t.Helper()
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features, options.Seed = 2, 20, 12, 4
	s, err := dataset.Generate(options)
	require.NoError(t, err)
	return s
}

// write puts a file with much else around the content into a folder.
func write(t *testing.T, path string, content []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	around := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
	require.NoError(t, os.WriteFile(path, bytes.Join([][]byte{around, content, around}, nil), 0o600))
}

// leftover is a way in which a transaction could be left, and the form by which
// it is to be found.
type leftover struct {
	way, form string
	content   []byte
}

// leftovers of a transaction are made by other means than the search's own.
func leftovers(t *testing.T, tx lethe.Transaction) []leftover {
	t.Helper()
	p := secret.Pseudonym(tx.ID)
	var row bytes.Buffer
	require.NoError(t, binary.Write(&row, binary.LittleEndian, tx.Features))
	text, err := json.Marshal(map[string]any{"features": tx.Features, "timestep": tx.Timestep})
	require.NoError(t, err)
	out := []leftover{
		{"an id", "id", []byte(tx.ID)},
		{"a pseudonym", "pseudonym", p[:]},
		{"a key cut short by its table", "pseudonym", p[4:]},
		{"a pseudonym in hexadecimal", "pseudonym in hexadecimal", []byte(hex.EncodeToString(p[:]))},
		{"a row", "features", row.Bytes()},
		{"a record", "features as text", text},
	}
	// Other spellings of the same. Each escape is legal JSON.
	var escaped, spaced strings.Builder
	for _, c := range string(tx.ID) {
		fmt.Fprintf(&escaped, `\u%04X`, c)
	}
	for i, v := range tx.Features {
		if i > 0 {
			spaced.WriteString(" ,\n")
		}
		spaced.WriteString(strconv.FormatFloat(float64(v), 'e', -1, 32))
	}
	out = append(out,
		leftover{"an escaped id", "id in JSON", []byte(`{"a":[{"b":"` + escaped.String() + `"}]}`)},
		leftover{"an escaped name", "id in JSON", []byte(`{"` + escaped.String() + `":1}`)},
		leftover{"an escaped key", "id in JSON", []byte(`"` + escaped.String() + `>other"`)},
		leftover{"another spelling of features", "features in JSON", []byte(`{"x":[` + spaced.String() + `]}`)},
		leftover{"features in JSON in JSON", "features in JSON",
			[]byte(strconv.Quote(`{"x":[` + strings.ReplaceAll(spaced.String(), "\n", "") + `]}`))})
	// Package json writes bytes in base64.
	document := func(before int, content []byte) []byte {
		field := append(bytes.Repeat([]byte{0xa7}, before), content...)
		text, err := json.Marshal(map[string][]byte{"key": append(field, 0xc3, 0x5e)})
		require.NoError(t, err)
		return text
	}
	for before := range 3 {
		out = append(out,
			leftover{fmt.Sprintf("a pseudonym after %d bytes in base64", before), "pseudonym in base64", document(before, p[:])},
			leftover{fmt.Sprintf("a row after %d bytes in base64", before), "features in base64", document(before, row.Bytes())})
	}
	return out
}

// In whatever way a transaction is left, the search says in which and where,
// and it is not alarmed by another transaction left in the same way.
func TestSearchFindsWhatIsPlanted(t *testing.T) {
	stream := newStream(t)
	gone, stays := stream.Steps[1].Transactions[3], stream.Steps[1].Transactions[4]
	forms, err := residue.Of(secret, stream, gone.ID)
	require.NoError(t, err)
	harmless := leftovers(t, stays)
	for i, l := range leftovers(t, gone) {
		t.Run(l.way, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "deep", "down", ".hidden")
			write(t, filepath.Join(dir, "other"), nil)
			write(t, path, harmless[i].content)
			report, err := residue.Search(forms, dir)
			require.NoError(t, err)
			require.Equal(t, residue.Report{Files: 2}, report)

			write(t, path, l.content)
			report, err = residue.Search(forms, dir)
			require.NoError(t, err)
			require.Equal(t, 2, report.Files)
			require.Contains(t, report.Hits, residue.Hit{Form: l.form, Path: path})
			for _, hit := range report.Hits {
				require.Contains(t, []string{l.form, l.form + " in JSON", "features in JSON"}, hit.Form, "one thing was left")
			}
		})
	}
}

func TestSearchReadsNamesAndAllFolders(t *testing.T) {
	stream := newStream(t)
	id := stream.Steps[0].Transactions[0].ID
	forms, err := residue.Of(secret, stream, id)
	require.NoError(t, err)
	p := secret.Pseudonym(id)
	first, second := t.TempDir(), t.TempDir()
	write(t, filepath.Join(first, string(id)+".json"), nil)
	write(t, filepath.Join(second, "file"), nil)
	empty := filepath.Join(second, "snapshot-"+p.String())
	require.NoError(t, os.Mkdir(empty, 0o755))
	report, err := residue.Search(forms, first, second)
	require.NoError(t, err)
	require.Equal(t, 2, report.Files)
	require.Equal(t, []residue.Hit{
		{Form: "id", Path: filepath.Join(first, string(id)+".json")},
		{Form: "pseudonym in hexadecimal", Path: empty},
	}, report.Hits)
}

// A search that cannot find anything must not look like one that found nothing.
func TestSearchRefusesToProveNothing(t *testing.T) {
	full, empty := t.TempDir(), t.TempDir()
	write(t, filepath.Join(full, "file"), nil)
	forms := []residue.Form{{Name: "id", Bytes: []byte("tx-1")}}
	_, err := residue.Search(forms, full)
	require.NoError(t, err)
	for want, search := range map[string]func() (residue.Report, error){
		"no file is there":  func() (residue.Report, error) { return residue.Search(forms, full, empty) },
		"missing: no file":  func() (residue.Report, error) { return residue.Search(forms, filepath.Join(full, "missing")) },
		"0 forms in 1":      func() (residue.Report, error) { return residue.Search(nil, full) },
		"1 forms in 0":      func() (residue.Report, error) { return residue.Search(forms) },
		`"id" has no bytes`: func() (residue.Report, error) { return residue.Search([]residue.Form{{Name: "id"}}, full) },
	} {
		_, err := search()
		require.ErrorContains(t, err, want)
	}
}

func TestFormsNeedATransactionThatCanBeToldApart(t *testing.T) {
	stream := newStream(t)
	_, err := residue.Of(secret, stream, "nobody-knows")
	require.ErrorContains(t, err, "0 times in the stream")

	step := stream.Steps[0].Transactions
	all, err := residue.Of(secret, stream, step[0].ID)
	require.NoError(t, err)
	step[1].Features = step[0].Features
	fewer, err := residue.Of(secret, stream, step[0].ID)
	require.ErrorIs(t, err, residue.ErrSharedFeatures)
	require.Equal(t, all[:len(fewer)], fewer)
	for _, f := range fewer {
		require.NotContains(t, f.Name, "features")
	}
}

// A payment is found by both its ends in one object, or as its key; neither end alone says
// anything, and what is no payment is not found where an empty one seems to be.
func TestPaymentsAreFoundWhole(t *testing.T) {
	secret := lethe.Secret{1}
	forms := residue.OfPayment(secret, lethe.Payment{Source: "a-1", Target: "b-2"}, 1)
	require.NotEmpty(t, residue.In(forms, []byte(`{"target":"b-2","x":[{}],"source":"\u0061-1"}`)))
	require.NotEmpty(t, residue.In(forms, []byte(`x"a-1\u003eb-2"`)))
	require.NotEmpty(t, residue.In(forms, []byte("\x00a-1>b-2\x00")))
	require.Empty(t, residue.In(forms, []byte(`[{"source":"a-1","target":"c"},{"source":"c","target":"b-2"}]`)))
	require.Empty(t, residue.In(append(forms, residue.OfID(secret, "a-1")...), []byte(`x">"x`)))
}
