package worlds

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// aTarget is a world that holds one transaction, which is a target, and another.
func aTarget() (world, lethe.TransactionID, []float32) {
	id, row := lethe.TransactionID(prefixOf(1)+"2"), []float32{1, -2.5, 3}
	request := lethe.ErasureRequest{RequestID: "request-0", Targets: lethe.Transactions(id)}
	return world{events: []event{
		{names: []lethe.TransactionID{id}, row: row},
		{names: []lethe.TransactionID{id}, row: []float32{4, 5, 6}},
		{names: []lethe.TransactionID{lethe.TransactionID(prefixOf(1) + "3")}, row: []float32{4, 5, 6}},
		{request: &request},
	}}, id, row
}

// TestTheSearchFinds: a search that finds nothing proves something only if it finds
// what is there, wherever that is and however it is spelled.
func TestTheSearchFinds(t *testing.T) {
	w, id, row := aTarget()
	pseudonym := secret.Pseudonym(id)
	var raw []byte
	for _, v := range row {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	d := newDeployment(t)
	for data, what := range map[string]string{
		`{"id":"` + string(id) + `"}`:                       "id, id in JSON",
		`{"id": "\u00e9\ud83d\uDE00\/1-\u0032", broken`:     "id in JSON",
		`{"features":[1e0, -2.50,3.0]`:                      "features in JSON",
		"\x00\x07" + string(pseudonym[:]) + "\x01":          "pseudonym",
		"t-" + hex.EncodeToString(pseudonym[:]):             "pseudonym in hexadecimal",
		base64.StdEncoding.EncodeToString(pseudonym[:]):     "pseudonym in base64",
		"\x03" + string(raw) + "\x00":                       "features",
		base64.StdEncoding.EncodeToString(append(raw, 200)): "features in base64",
		`{"id":"é😀/1-3","features":[1],"row":[4,5,6]}`:      "",
	} {
		require.Equal(t, what, foundAs(t, d, w, data), "%q", data)
	}
}

// foundAs says as what the search finds some bytes, which is the same in a topic, in a
// file of a role and among the receipts.
func foundAs(t *testing.T, d *deployment, w world, data string) string {
	d.topics.Bus = newDeployment(t).topics.Bus
	wanted := wantedOf(w)
	records := []ingest.Outgoing{{Key: []byte(data), Value: []byte("{}")}, {Key: []byte("key"), Value: []byte(data)}}
	require.NoError(t, d.topics.Bus.Write(t.Context(), bus.DeadLetters, records))
	for _, folder := range []string{"/build", "/train", "/score", "/view"} {
		require.NoError(t, d.disk.MkdirAll(folder, 0o700))
		f, err := d.disk.FS.Create(folder+"/file", vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		_, err = f.Write([]byte(data))
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	require.NoError(t, os.WriteFile(filepath.Join(d.receipts, "r.json"), []byte(data), 0o600))
	found, err := d.search(t.Context(), wanted)
	require.NoError(t, err)
	if len(found) == 0 {
		return ""
	}
	what := ""
	for i, place := range []string{
		"/build/file", "/score/file", "/train/file", "/view/file", "dlq.v1/0@0 key", "dlq.v1/0@1", "receipts/r.json",
	} {
		require.Less(t, i, len(found), "%q", found)
		require.Contains(t, found[i], " in "+place)
		what = found[i][:len(found[i])-len(" in "+place)]
	}
	return what
}
