package swapstore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/swapstore"
)

// crashRecorder keeps what the disk would hold had the machine stopped before
// each write, together with the content acknowledged by then.
type crashRecorder struct {
	mu     sync.Mutex
	disk   *vfs.MemFS
	stages int
	// moments pairs a disk with the number of stages acknowledged.
	moments []crashMoment
}

type crashMoment struct {
	disk         *vfs.MemFS
	acknowledged int
	op           string
}

func (c *crashRecorder) observe(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || op.Kind == errorfs.OpFileClose {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, percent := range []int{0, 50, 100} {
		c.moments = append(c.moments, crashMoment{
			disk: c.disk.CrashClone(vfs.CrashCloneCfg{
				UnsyncedDataPercent: percent,
				RNG:                 rand.New(rand.NewPCG(1, uint64(len(c.moments)))),
			}),
			acknowledged: c.stages,
			op:           fmt.Sprintf("%d%% unsynced, before op %d on %s", percent, op.Kind, op.Path),
		})
	}
	return nil
}

func (c *crashRecorder) acknowledge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stages++
}

func TestCrashAtEveryWriteLeavesAllOrNothing(t *testing.T) {
	recorder := &crashRecorder{disk: vfs.NewCrashableMem()}
	fs := errorfs.Wrap(recorder.disk, errorfs.InjectorFunc(recorder.observe))
	stages := []map[string]string{{}}
	record := func(s *swapstore.Store) {
		stages = append(stages, content(t, s))
		recorder.acknowledge()
	}

	s, err := swapstore.Open(fs, "data/store", swapstore.Format{})
	require.NoError(t, err)
	set(t, s, map[string]string{"a": "1", "b": strings.Repeat("x", 5000), "c": "3"})
	record(s)
	require.NoError(t, s.Apply(func(w swapstore.Writer) error {
		w.Set([]byte("a"), []byte("2"))
		w.Delete([]byte("c"))
		w.Set([]byte("d"), []byte("4"))
		return nil
	}))
	record(s)
	require.NoError(t, s.Rewrite(context.Background(), without("b")))
	record(s)
	set(t, s, map[string]string{"e": "5"})
	record(s)
	require.NoError(t, s.Rewrite(context.Background(), without("a", "e")))
	record(s)
	require.NoError(t, s.Close())

	require.Greater(t, len(recorder.moments), 300)
	recorder.check(t, stages)
}

// A crash while a store is written anew in parts leaves what was written until then, be it to the old files or to those
// that replace them.
func TestCrashAtEveryWriteOfARewritingInParts(t *testing.T) {
	recorder := &crashRecorder{disk: vfs.NewCrashableMem()}
	fs := errorfs.Wrap(recorder.disk, errorfs.InjectorFunc(recorder.observe))
	stages := []map[string]string{{}}
	s, err := swapstore.Open(fs, "data/store", swapstore.Format{})
	require.NoError(t, err)
	record := func() {
		stages = append(stages, content(t, s))
		recorder.acknowledge()
	}
	put := func(key, value string) {
		set(t, s, map[string]string{key: value})
		record()
	}
	set(t, s, map[string]string{"a": "1", "b": strings.Repeat("x", 5000), "c": "3"})
	record()
	for n := range 2 {
		r, err := swapstore.BeginRewriting(s)
		require.NoError(t, err)
		put("d", fmt.Sprint("begun", n))
		require.NoError(t, r.Fill(t.Context(), func(src swapstore.Reader, dst swapstore.Writer) error {
			put("d", fmt.Sprint("filled", n))
			require.NoError(t, s.Apply(func(w swapstore.Writer) error {
				w.Delete([]byte("a"))
				return swapstore.DeletePrefix(w, []byte("c"))
			}))
			record()
			return without("b")(src, dst)
		}))
		put("c", fmt.Sprint("still the old", n))
		put("a", fmt.Sprint("back", n))
		require.NoError(t, r.Switch())
		record()
		put("e", fmt.Sprint("the new", n))
		require.NoError(t, r.Clean())
		put("f", fmt.Sprint("cleaned", n))
	}
	require.NoError(t, s.Close())
	require.Greater(t, len(recorder.moments), 300)
	recorder.check(t, stages)
}

// check opens what every moment has left, which is what was acknowledged until then, or what came next.
func (c *crashRecorder) check(t *testing.T, stages []map[string]string) {
	t.Helper()
	for _, m := range c.moments {
		s, err := swapstore.Open(m.disk, "data/store", swapstore.Format{})
		require.NoError(t, err, m.op)
		got := content(t, s)
		matches := false
		for at := m.acknowledged; at <= min(m.acknowledged+1, len(stages)-1); at++ {
			matches = matches || maps.Equal(got, stages[at])
		}
		require.True(t, matches, "%s: %d keys after %d stages", m.op, len(got), m.acknowledged)
		// The survivor must be fit for use, and hold no generation but its own.
		set(t, s, map[string]string{"later": "yes"})
		names, err := m.disk.List("data/store")
		require.NoError(t, err)
		require.Len(t, names, 3, "%s: %v", m.op, names)
		require.NoError(t, s.Close())
	}
}

// A store that is opened again is there whenever the machine stops meanwhile, whichever of
// the names that were not synced are kept.
func TestACrashWhileOpeningLosesNothing(t *testing.T) {
	disk := vfs.NewCrashableMem()
	s, err := swapstore.Open(disk, "data/store", swapstore.Format{})
	require.NoError(t, err)
	set(t, s, map[string]string{"a": "1"})
	want := content(t, s)
	require.NoError(t, s.Close())
	for seed := range uint64(40) {
		var kept []*vfs.MemFS
		var mu sync.Mutex
		fs := errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
			mu.Lock()
			defer mu.Unlock()
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpFileClose {
				rng := rand.New(rand.NewPCG(seed, uint64(len(kept))))
				kept = append(kept, disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng}))
			}
			return nil
		}))
		s, err := swapstore.Open(fs, "data/store", swapstore.Format{})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		require.NotEmpty(t, kept)
		for at, survivor := range kept {
			s, err := swapstore.Open(survivor, "data/store", swapstore.Format{})
			require.NoError(t, err, "seed %d, write %d of %d", seed, at, len(kept))
			require.Equal(t, want, content(t, s))
			require.NoError(t, s.Close())
		}
	}
}

// failing makes the n-th operation of a kind on a path with the suffix fail.
func failing(kind errorfs.OpKind, suffix string, n int) func() errorfs.Injector {
	return func() errorfs.Injector {
		left := n
		return errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind != kind || !strings.HasSuffix(op.Path, suffix) {
				return nil
			}
			left--
			if left == 0 {
				return errorfs.ErrInjected
			}
			return nil
		})
	}
}

func TestRewriteOnAFailingDisk(t *testing.T) {
	const createOps = 2 // the pointer writes of Open come first
	for name, c := range map[string]struct {
		injector  func() errorfs.Injector
		want      error
		rewritten bool
	}{
		"create pointer":  {failing(errorfs.OpCreate, "CURRENT-GEN.tmp", createOps+1), nil, false},
		"write pointer":   {failing(errorfs.OpFileWrite, "CURRENT-GEN.tmp", createOps+1), nil, false},
		"sync pointer":    {failing(errorfs.OpFileSync, "CURRENT-GEN.tmp", createOps+1), nil, false},
		"new generation":  {failing(errorfs.OpMkdirAll, "g000002", 1), nil, false},
		"rename pointer":  {failing(errorfs.OpRename, "CURRENT-GEN.tmp", createOps+1), swapstore.ErrUncertain, false},
		"remove old":      {failing(errorfs.OpRemoveAll, "g000001", 1), swapstore.ErrLeftovers, true},
		"list after swap": {failing(errorfs.OpList, "store", 4), swapstore.ErrLeftovers, true},
	} {
		t.Run(name, func(t *testing.T) {
			mem := vfs.NewMem()
			fs := errorfs.Wrap(mem, c.injector())
			s, err := swapstore.Open(fs, "store", swapstore.Format{})
			require.NoError(t, err)
			set(t, s, map[string]string{"a": "1", "b": "2"})
			err = s.Rewrite(context.Background(), without("a"))
			require.ErrorIs(t, err, errorfs.ErrInjected)
			want := map[string]string{"a": "1", "b": "2"}
			if c.rewritten {
				delete(want, "a")
			}
			require.Equal(t, want, content(t, s))
			switch {
			case c.want == nil:
				require.NotErrorIs(t, err, swapstore.ErrUncertain)
				_, err := mem.Stat("store/g000002")
				require.Error(t, err, "the new generation must be removed")
				require.NoError(t, s.Rewrite(context.Background(), without("a")), "a retry must succeed")
				delete(want, "a")
			case errors.Is(c.want, swapstore.ErrLeftovers):
				require.ErrorIs(t, err, c.want)
				require.NoError(t, s.Rewrite(context.Background(), without("a")), "a retry must clean up")
			default:
				require.ErrorIs(t, err, c.want)
				require.ErrorIs(t, s.Apply(nil), swapstore.ErrUncertain)
			}
			require.NoError(t, s.Close())

			s = open(t, "store", mem)
			require.Equal(t, want, content(t, s))
			names, err := mem.List("store")
			require.NoError(t, err)
			require.Len(t, names, 3)
		})
	}
}
