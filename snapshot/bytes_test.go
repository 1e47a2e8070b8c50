package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/floatbytes"
	"lethe/snapshot/index"
)

const scanFeatures = 40

// scanStore fills timesteps 1 (settled), 2 (closed) and 3 (open) with nodes of
// which the first of each is a subject to be erased. Payments and labels name
// subjects in every place where they can stand.
func scanStore(t *testing.T, dir string, fs vfs.FS, nodes int, fileBytes ...int) (*Store, []lethe.TransactionID) {
	t.Helper()
	c := Defaults()
	c.AllowedLatenessTimesteps, c.FeatureCount = ByControl, scanFeatures
	c.RowFileBytes = append(fileBytes, c.RowFileBytes)[0]
	s, err := Open(dir, Options{
		Config: c, Secret: lethe.Secret{9}, FS: fs, TransactionPartitions: 1, LabelPartitions: 1,
	})
	require.NoError(t, err)
	var subjects []lethe.TransactionID
	offset := int64(0)
	for step := lethe.Timestep(1); step <= 3; step++ {
		subjects = append(subjects, scanID(step, 0), lethe.TransactionID(fmt.Sprintf("only-named-in-%d", step)))
		b, err := s.Begin(Source{Transactions, "transactions", 0})
		require.NoError(t, err)
		origin := func(value string) Origin {
			offset++
			return Origin{Topic: "transactions", Offset: offset, Key: []byte(value), Value: []byte("value of " + value)}
		}
		foreseen := make([]*Foreseen, nodes)
		for n, hashing := 0, s.Marks().NewHashing(); n < nodes; n++ {
			f := hashing.Foresee(lethe.Transaction{ID: scanID(step, n), Timestep: step, Features: scanRow(step, n)})
			foreseen[n] = &f
		}
		require.NoError(t, b.Place(foreseen))
		for n := range nodes {
			id := scanID(step, n)
			_, err := foreseen[n].Take(b, origin(string(id)))
			require.NoError(t, err)
			ends := []lethe.TransactionID{scanID(step, (n+1)%nodes), scanID(step, 0), subjects[len(subjects)-1], "nobody"}
			for _, end := range ends[:2+2*(n%2)] {
				_, err = b.Payment(lethe.Payment{Source: id, Target: end, Timestep: step}, origin(fmt.Sprintf("%s>%s", id, end)))
				require.NoError(t, err)
			}
		}
		end(t, b, min(step, 2))
		require.NoError(t, b.Commit(offset+1))
		b, err = s.Begin(Source{Labels, "labels", 0})
		require.NoError(t, err)
		for n := range nodes {
			id := scanID(step, n)
			_, err = b.Label(lethe.LabelRecord{ID: id, Timestep: step, Label: lethe.Illicit}, origin(string(id)))
			require.NoError(t, err)
		}
		_, err = b.Label(lethe.LabelRecord{ID: subjects[len(subjects)-1], Timestep: step, Label: lethe.Licit},
			origin("label of one only named"))
		require.NoError(t, err)
		end(t, b, 1)
		require.NoError(t, b.Commit(offset+1))
	}
	ctx := context.Background()
	require.NoError(t, CloseTimestep(ctx, s, 1))
	require.NoError(t, s.SettleTimestep(ctx, 1, oneShard))
	require.NoError(t, CloseTimestep(ctx, s, 2))
	return s, subjects
}

func scanID(step lethe.Timestep, n int) lethe.TransactionID {
	return lethe.TransactionID(fmt.Sprintf("account-%d-%06d", step, n))
}

func scanRow(step lethe.Timestep, n int) []float32 {
	row := make([]float32, scanFeatures)
	draw := lethe.NewDraw(5, "row", uint64(step), uint64(n))
	for i := range row {
		row[i] = float32(draw.Normal())
	}
	return row
}

// needles are the bytes by which subjects can be recognised.
func needles(s *Store, subjects []lethe.TransactionID) map[string][]byte {
	out := map[string][]byte{}
	for _, id := range subjects {
		p := s.staging.options.Secret.Pseudonym(id)
		out["id "+string(id)] = []byte(id)
		out["pseudonym of "+string(id)] = p[:]
		out["hex pseudonym of "+string(id)] = []byte(p.String())
	}
	for step := lethe.Timestep(1); step <= 3; step++ {
		hash := index.ContentOf(s.staging.options.Secret, scanRow(step, 0))
		out[fmt.Sprintf("row %d", step)] = floatbytes.Append(nil, scanRow(step, 0))
		out[fmt.Sprintf("content hash %d", step)] = hash[:]
	}
	return out
}

// search returns where needles are found, in files and in their names. An
// open store deletes files that it has replaced in the background: one that was
// listed and is gone when it is read holds nothing.
func search(t require.TestingT, fs vfs.FS, path string, needles map[string][]byte) (hits []string, files int) {
	info, err := fs.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0
	}
	require.NoError(t, err)
	var content []byte
	if info.IsDir() {
		names, err := fs.List(path)
		require.NoError(t, err)
		for _, name := range names {
			h, f := search(t, fs, fs.PathJoin(path, name), needles)
			hits, files = append(hits, h...), files+f
		}
	} else {
		files++
		f, err := fs.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil, 0
		}
		require.NoError(t, err)
		content, err = io.ReadAll(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	for what, needle := range needles {
		if bytes.Contains(content, needle) || strings.Contains(path, string(needle)) {
			hits = append(hits, what+" in "+path)
		}
	}
	return hits, files
}

// eraseWhole erases and scrubs.
func eraseWhole(s *Store, subjects []lethe.TransactionID) error {
	ctx := context.Background()
	return errors.Join(s.Erase(ctx, lethe.Transactions(subjects...)), ScrubAtOnce(ctx, s))
}

func TestNoByteIsLeftAfterErase(t *testing.T) {
	noByteIsLeft(t, Defaults().RowFileBytes, 0)
	noByteIsLeft(t, 1, 1)
}

func noByteIsLeft(t *testing.T, fileBytes, rowFiles int) {
	dir := t.TempDir()
	s, subjects := scanStore(t, dir, vfs.Default, 300, fileBytes)
	files, err := s.staging.rows.Files(3)
	require.NoError(t, err)
	require.Len(t, files, rowFiles)
	wanted := needles(s, subjects)
	before, _ := search(t, vfs.Default, dir, wanted)
	require.GreaterOrEqual(t, len(before), 2*len(subjects), "the search must find what is there")
	before1, err := s.Load(1)
	require.NoError(t, err)

	require.NoError(t, eraseWhole(s, subjects))
	after, searched := search(t, vfs.Default, dir, wanted)
	require.Empty(t, after)
	require.Greater(t, searched, 10)

	subject := s.staging.options.Secret.Pseudonym(subjects[0])
	want := before1.Snapshot.Without(func(p lethe.Pseudonym) bool { return p == subject })
	want.Revision++
	got, err := s.Load(1)
	require.NoError(t, err)
	require.Equal(t, want, got.Snapshot)
	require.NoError(t, s.Close())
	after, _ = search(t, vfs.Default, dir, wanted)
	require.Empty(t, after)
}

func TestEraseSurvivesACrashAtAnyWrite(t *testing.T) {
	disk := vfs.NewCrashableMem()
	var mu sync.Mutex // Pebble writes from goroutines of its own
	var survivors []*vfs.MemFS
	recording := false
	fs := errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if recording && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpFileClose {
			n := uint64(len(survivors))
			survivors = append(survivors, disk.CrashClone(vfs.CrashCloneCfg{
				UnsyncedDataPercent: int(n%3) * 50, RNG: rand.New(rand.NewPCG(1, n)),
			}))
		}
		return nil
	}))
	s, subjects := scanStore(t, "data", fs, 12)
	// MemFS takes read locks within read locks, which a clone made between the two waits for for
	// ever: nobody else may write while one is made.
	s.staging.options.RewriteAtOnce = 1
	wanted := needles(s, subjects)
	var before, after [2]int
	for i := range before {
		before[i] = s.staging.infos[lethe.Timestep(i+1)].Nodes
	}
	record := func(on bool) {
		mu.Lock()
		defer mu.Unlock()
		recording = on
	}
	record(true)
	err := eraseWhole(s, subjects)
	record(false)
	require.NoError(t, err)
	for i := range after {
		after[i] = s.staging.infos[lethe.Timestep(i+1)].Nodes
	}
	require.NoError(t, s.Close())
	require.Greater(t, len(survivors), 50)
	o := s.staging.options
	for n, survivor := range survivors {
		o.FS = survivor
		s, err := Open("data", o)
		require.NoError(t, err, "survivor %d", n)
		for i := range before {
			c, err := s.Load(lethe.Timestep(i + 1))
			require.NoError(t, err)
			want := map[lethe.Revision]int{1: before[i], 2: after[i]}[c.Snapshot.Revision]
			require.Len(t, c.Snapshot.Nodes, want, "revision %d", c.Snapshot.Revision)
			require.Equal(t, c.Snapshot.Revision, c.Info.Revision)
		}
		require.NoError(t, eraseWhole(s, subjects))
		hits, _ := search(t, survivor, "data", wanted)
		require.Empty(t, hits, "survivor %d", n)
		require.Equal(t, []lethe.Revision{2, 2, 0},
			[]lethe.Revision{s.staging.infos[1].Revision, s.staging.infos[2].Revision, s.staging.infos[3].Revision})
		require.NoError(t, s.Close())
	}
}

// A close that was interrupted leaves a file that staging does not list. An
// erasure must reach it too.
func TestEraseReachesAnUnlistedFile(t *testing.T) {
	fs := vfs.NewMem()
	s, subjects := scanStore(t, "data", fs, 12)
	g, _, err := s.staging.assemble(context.Background(), s.staging.change(), 3, nil, 1)
	require.NoError(t, err)
	g.Revision = 1
	require.NoError(t, s.closed.Write(g))
	require.NoError(t, eraseWhole(s, subjects))
	hits, _ := search(t, fs, "data", needles(s, subjects))
	require.Empty(t, hits)
	require.NoError(t, s.Close())
}
