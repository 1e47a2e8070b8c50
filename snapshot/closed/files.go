// Package closed stores the graphs of closed timesteps as files. A file is never changed: its successor gets another
// name, and the owner decides which names are valid, together with all other state. Labels and shards are apart from
// the rows, so that settling does not write the rows again.
//
//	t000012.3.graph     the graph of timestep 12, written under revision 3
//	t000012.4.assigned  labels and shards of its transactions, written under revision 4
//
//	files.go  the files of a folder
//	write.go  writing a file; the format
//	graph.go  reading
package closed

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/stored"
)

// Folder has the files of closed timesteps. Any goroutine may use it.
type Folder struct {
	FS  vfs.FS
	Dir string
}

// Files are the revisions under which the files of a timestep were written, 0 if there are none.
type Files struct{ Graph, Assigned lethe.Revision }

const graphKind, assignedKind = "graph", "assigned"

// Prefix begins the names of a timestep's files.
func Prefix(t lethe.Timestep) string { return fmt.Sprintf("t%06d.", t) }

func name(t lethe.Timestep, r lethe.Revision, kind string) string {
	return fmt.Sprintf("%s%d.%s", Prefix(t), r, kind)
}

// parse is the inverse of name. The folder may contain other files.
func parse(of string) (t lethe.Timestep, is bool) {
	var r lethe.Revision
	var kind string
	_, err := fmt.Sscanf(strings.ReplaceAll(of, ".", " "), "t%d %d %s", &t, &r, &kind)
	return t, err == nil && of == name(t, r, kind) && (kind == graphKind || kind == assignedKind)
}

// names are the names of a timestep's files.
func (f Files) names(t lethe.Timestep) (out []string) {
	if f.Graph > 0 {
		out = append(out, name(t, f.Graph, graphKind))
	}
	if f.Assigned > 0 {
		out = append(out, name(t, f.Assigned, assignedKind))
	}
	return out
}

func (d Folder) path(name string) string { return d.FS.PathJoin(d.Dir, name) }

// list returns the names of all files by timestep. The folder may be absent.
func (d Folder) list() (map[lethe.Timestep][]string, error) {
	names, err := d.FS.List(d.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	out := make(map[lethe.Timestep][]string)
	for _, path := range names {
		if t, is := parse(d.FS.PathBase(path)); is {
			out[t] = append(out[t], d.FS.PathBase(path))
		}
	}
	return out, err
}

// Count returns the number of timesteps with files.
func (d Folder) Count() (int, error) {
	all, err := d.list()
	return len(all), err
}

// Require checks that the files of a timestep are there and of this format. Errors: stored.ErrCorrupt,
// swapstore.ErrFormat.
func (d Folder) Require(t lethe.Timestep, files Files) error {
	for _, name := range files.names(t) {
		file, err := d.open(name)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %s holds no %s (put the folder back from a copy)", stored.ErrCorrupt, d.Dir, name)
		}
		if err == nil {
			err = file.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Remove unlinks the files of a timestep that are no longer valid.
func (d Folder) Remove(t lethe.Timestep, before, now Files) error {
	return d.remove(slices.DeleteFunc(before.names(t), func(name string) bool {
		return slices.Contains(now.names(t), name)
	}))
}

// RemoveUnlisted unlinks all files but the valid ones: a crash left them behind.
func (d Folder) RemoveUnlisted(valid func(lethe.Timestep) Files) error {
	all, err := d.list()
	var gone []string
	for t, names := range all {
		listed := valid(t).names(t)
		for _, name := range names {
			if !slices.Contains(listed, name) {
				gone = append(gone, name)
			}
		}
	}
	slices.Sort(gone)
	return errors.Join(err, d.remove(gone))
}

func (d Folder) remove(names []string) error {
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		if err := swapstore.Unlink(d.FS, d.path(name)); err != nil {
			return fmt.Errorf("remove a file of a closed timestep: %w", err)
		}
	}
	return swapstore.SyncDir(d.FS, d.Dir)
}
