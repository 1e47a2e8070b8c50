package worlds

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// crash is how a process ends before its time.
type crash struct {
	// share is how far that is in the writes that the process would make to its end.
	share float64
	// at is the write, to a file or a topic, at which it ends; 0 is never.
	at int64
	// torn says that it ends in the midst of a write, if the write is one to a file.
	torn bool
	// whole says that the machine ends with it: what was not synced is lost. Topics
	// are elsewhere.
	whole bool
	// lost is the folder that is empty then, or nil.
	lost *loss
}

// String implements fmt.Stringer.
func (c crash) String() string {
	out := fmt.Sprintf("at %d (torn %v, machine %v)", c.at, c.torn, c.whole)
	if c.lost != nil {
		out += fmt.Sprintf(" and loses %+v", *c.lost)
	}
	return out
}

// disk is a file system in memory that counts writes, and at one of them takes a
// copy of itself: what a process that is killed there leaves behind.
//
// What is counted comes in the same sequence every time: all that is done to files of
// lethe's own, and each time that Pebble makes its log durable. What else Pebble
// writes, it writes when its goroutines come to it.
type disk struct {
	vfs.FS
	memory *vfs.MemFS
	// mu keeps what is written to topics, and the kill, from happening at once.
	mu sync.Mutex
	// writes counts those so far, on disk and to topics; killed is told of the one that
	// crash names, and of the file that is written there, or nil.
	writes int64
	crash  crash
	killed func(during *file)
	// trace lists the writes, those of the process before included.
	trace []string
}

func newDisk() *disk { return diskOf(vfs.NewCrashableMem()) }

func diskOf(memory *vfs.MemFS) *disk { return &disk{FS: memory, memory: memory} }

// write counts a write. The lock is held.
func (d *disk) write(what string, during *file) {
	d.trace = append(d.trace, what)
	if d.writes++; d.writes == d.crash.at {
		d.killed(during)
	}
}

// counted is the number of writes so far.
func (d *disk) counted() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.writes
}

// note counts what is done to a path, unless it is Pebble's.
func (d *disk) note(what, name string) {
	if inGeneration(name) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.write(what+name, nil)
}

// inGeneration reports whether a path is that of a file of Pebble's.
func inGeneration(name string) bool { return isGeneration(path.Dir(name)) }

// isGeneration reports whether a path is that of a folder of Pebble's.
func isGeneration(name string) bool { return strings.HasPrefix(path.Base(name), "g0") }

// copied is what is on the disk now. A killed process leaves everything that it
// wrote, synced or not, but for half of what it is about to make durable if that is torn.
func (d *disk) copied(during *file) (*disk, error) {
	if d.crash.whole {
		return diskOf(d.memory.CrashClone(vfs.CrashCloneCfg{})), nil
	}
	// Pebble is given a moment to remove what it does not need any more: what is there
	// when the next process begins changes what that writes.
	time.Sleep(5 * time.Millisecond)
	all := vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))}
	out := d.memory.CrashClone(all)
	if during == nil || !d.crash.torn || during.size == during.durable {
		return diskOf(out), nil
	}
	return diskOf(out), during.tear(out)
}

// Create implements vfs.FS.
func (d *disk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	d.note("create ", name)
	return d.watched(name)(d.FS.Create(name, category))
}

// OpenDir implements vfs.FS.
func (d *disk) OpenDir(name string) (vfs.File, error) { return d.watched(name)(d.FS.OpenDir(name)) }

// Rename implements vfs.FS.
func (d *disk) Rename(oldname, newname string) error {
	d.note("rename ", newname)
	return d.FS.Rename(oldname, newname)
}

// Remove implements vfs.FS.
func (d *disk) Remove(name string) error {
	d.note("remove ", name)
	return d.FS.Remove(name)
}

// RemoveAll implements vfs.FS.
func (d *disk) RemoveAll(name string) error {
	d.note("remove ", name)
	return d.FS.RemoveAll(name)
}

// List implements vfs.FS, in the same sequence every time.
func (d *disk) List(dir string) ([]string, error) {
	names, err := d.FS.List(dir)
	slices.Sort(names)
	return names, err
}

// Unwrap implements vfs.FS.
func (d *disk) Unwrap() vfs.FS { return d.FS }
