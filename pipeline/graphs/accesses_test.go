package graphs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// What people did through the API of any process is in the log, once, and the records that said so are
// deleted; what is no deed of this version is passed over.
func TestWhatPeopleDoIsInTheLog(t *testing.T) {
	d, dir := deploy(t), t.TempDir()
	said := 0
	say := func(deed string) {
		said++
		rec, err := wire.Access{
			Deed: deed, At: time.Unix(int64(said), 0), Actor: lethe.Digest{7}, Request: lethe.Digest{9},
		}.Record(fmt.Sprint(said))
		require.NoError(t, err)
		d.send(bus.Control, rec)
	}
	logged := func() (deeds []translog.Deed) {
		log, err := translog.ReadPublished(t.Context(), d.topics)
		require.NoError(t, err)
		for _, text := range log.Leaves {
			leaf, err := translog.Decode(text)
			require.NoError(t, err)
			if a, is := leaf.(translog.Access); is {
				require.Equal(t, lethe.Digest{7}, a.Actor)
				require.Equal(t, lethe.Digest{9}, a.Request)
				deeds = append(deeds, a.Deed)
			}
		}
		return deeds
	}
	left := func() (keys []string) {
		newest := make(map[string]bool)
		require.NoError(t, d.topics.ReadAll(t.Context(), bus.Control, func(rec ingest.Record) error {
			if wire.IsAccess(rec) {
				newest[string(rec.Key)] = !rec.Tombstone()
			}
			return nil
		}))
		for key, there := range newest {
			if there {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		return keys
	}
	say("submit")
	_, stop := d.run(dir)
	say("stare")
	say("look")
	want := []translog.Deed{translog.DeedSubmit, translog.DeedLook}
	await := func() {
		t.Helper()
		require.Eventually(t, func() bool { return len(logged()) >= len(want) && len(left()) == 1 }, 30*time.Second,
			5*time.Millisecond)
	}
	await()
	stop()
	// What was read is read again at a start, and said no second time.
	_, stop = d.run(dir)
	say("look")
	want = append(want, translog.DeedLook)
	await()
	stop()
	require.Equal(t, want, logged())
	require.Equal(t, []string{"!access/2"}, left())
}
