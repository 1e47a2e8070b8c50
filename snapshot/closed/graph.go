package closed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sort"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/stored"
)

// Graph reads the files of a timestep.
type Graph struct {
	folder   Folder
	timestep lethe.Timestep
	files    Files
}

// Of returns the graph of a timestep.
func (d Folder) Of(t lethe.Timestep, files Files) Graph { return Graph{d, t, files} }

// file is an open file.
type file struct {
	vfs.File
	// end is the offset of version and checksum.
	end int
}

// open opens a file of this format.
func (d Folder) open(name string) (f file, err error) {
	if f.File, err = d.FS.Open(d.path(name)); err != nil {
		return f, err
	}
	info, err := f.Stat()
	var found [1]byte
	if err == nil {
		if f.end = int(info.Size()) - endBytes; f.end < 0 {
			err = d.damaged(name)
		} else if _, err = f.ReadAt(found[:], int64(f.end)); err == nil && found[0] != version {
			err = fmt.Errorf("%w: %s of version %d, this program reads %d", swapstore.ErrFormat, name, found[0], version)
		}
	}
	if err != nil {
		err = errors.Join(err, f.Close())
	}
	return f, err
}

func (d Folder) damaged(name string) error {
	return fmt.Errorf("%w: %w", stored.ErrCorrupt, swapstore.Damaged(d.FS, d.Dir, name))
}

// content returns a file as a whole, without version and checksum, which it verifies.
func (d Folder) content(name string) ([]byte, error) {
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	content := make([]byte, f.end+endBytes)
	_, err = f.ReadAt(content, 0)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	body, sum := content[:f.end+1], binary.BigEndian.Uint32(content[f.end+1:])
	if crc32.Checksum(body, swapstore.Castagnoli()) != sum {
		return nil, d.damaged(name)
	}
	return body[:f.end], nil
}

// counts are the numbers at the end of a graph's file.
type counts struct{ features, nodes, payments int }

func countsOf(end []byte) counts {
	c := stored.Over(end)
	return counts{int(c.Uint32()), int(c.Uint64()), int(c.Uint64())}
}

// tables returns the offsets of the places and of the payments in a file whose counts are at an offset.
func (c counts) tables(at int) (places, payments int) {
	payments = at - paymentBytes*c.payments
	return payments - placeBytes*c.nodes, payments
}

// Read returns the graph and, once it is settled, the shard of each transaction; before, all labels are unknown.
// Errors: stored.ErrCorrupt, those of the file system.
func (s Graph) Read() (*lethe.Snapshot, []lethe.ShardID, error) {
	name := name(s.timestep, s.files.Graph, graphKind)
	content, err := s.folder.content(name)
	if err != nil {
		return nil, nil, err
	}
	g, err := s.decode(content)
	var shards []lethe.ShardID
	if err == nil && s.files.Assigned > 0 {
		shards, err = s.readAssigned(g)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return g, shards, nil
}

func (s Graph) decode(content []byte) (*lethe.Snapshot, error) {
	at := len(content) - countsBytes
	if at < 0 {
		return nil, fmt.Errorf("%w: %d bytes", stored.ErrCorrupt, len(content))
	}
	n := countsOf(content[at:])
	placesAt, paymentsAt := n.tables(at)
	if min(n.nodes, n.payments, placesAt) < 0 || max(n.nodes, n.payments) > at {
		return nil, fmt.Errorf("%w: %d transactions and %d payments in %d bytes", stored.ErrCorrupt, n.nodes, n.payments, at)
	}
	g := &lethe.Snapshot{
		Timestep: s.timestep, FeatureCount: n.features,
		Nodes: make([]lethe.SnapshotNode, 0, n.nodes), Features: make([]float32, 0, placesAt/4),
	}
	places := stored.Over(content[placesAt:paymentsAt])
	rows := stored.Over(content[:placesAt])
	for range n.nodes {
		var p lethe.Pseudonym
		places.Bytes(p[:])
		places.Take(8) // rows follow one another
		rows.Take(stored.PseudonymBytes)
		if err := stored.AddNode(g, p, rows.Take(int(places.Uint32()))); err != nil {
			return nil, err
		}
	}
	for payments := content[paymentsAt:at]; len(payments) > 0; payments = payments[paymentBytes:] {
		ends, err := stored.Pseudonyms(payments[:paymentBytes], 1, 2)
		if err == nil && !stored.AddPayment(g, ends[0], ends[1]) {
			err = fmt.Errorf("%w: payment without its ends", stored.ErrCorrupt)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", stored.ErrCorrupt, err)
	}
	return g, rows.Done("rows")
}

// readAssigned fills in the labels and returns the shards.
func (s Graph) readAssigned(g *lethe.Snapshot) ([]lethe.ShardID, error) {
	content, err := s.folder.content(name(s.timestep, s.files.Assigned, assignedKind))
	if err == nil && len(content) != assignedBytes*len(g.Nodes) {
		err = fmt.Errorf("%w: %d bytes of labels and shards for %d nodes", stored.ErrCorrupt, len(content), len(g.Nodes))
	}
	if err != nil {
		return nil, err
	}
	shards := make([]lethe.ShardID, len(g.Nodes))
	for i := range shards {
		record := content[i*assignedBytes:][:assignedBytes]
		if !bytes.HasPrefix(record, g.Nodes[i].Pseudonym[:]) {
			return nil, fmt.Errorf("%w: label and shard %d are not those of node %d", stored.ErrCorrupt, i, i)
		}
		g.Nodes[i].Label, shards[i] = decodeAssigned(record)
	}
	return shards, nil
}

func decodeAssigned(record []byte) (lethe.Label, lethe.ShardID) {
	rest := record[stored.PseudonymBytes:]
	return lethe.Label(rest[0]), lethe.ShardID(binary.BigEndian.Uint32(rest[1:]))
}

// Row returns a transaction's stored row, and whether there is one.
func (s Graph) Row(p lethe.Pseudonym) (row []byte, found bool, err error) {
	err = s.look(func(f file, n counts, at int) error {
		places, _ := n.tables(at)
		var place []byte
		if place, found, err = find(f, places, n.nodes, placeBytes, p[:]); err != nil || !found {
			return err
		}
		start, length := binary.BigEndian.Uint64(place[stored.PseudonymBytes:]), binary.BigEndian.Uint32(place[placeBytes-4:])
		if int(length) > places {
			return s.folder.damaged(name(s.timestep, s.files.Graph, graphKind))
		}
		row = make([]byte, length)
		_, err := f.ReadAt(row, int64(start))
		return err
	})
	return row, found, err
}

// HasPayment reports whether a payment is in the graph.
func (s Graph) HasPayment(source, target lethe.Pseudonym) (found bool, err error) {
	err = s.look(func(f file, n counts, at int) error {
		_, payments := n.tables(at)
		_, found, err = find(f, payments, n.payments, paymentBytes, PaymentKey(source, target))
		return err
	})
	return found, err
}

// look opens the file of the graph; at is the offset of its counts.
func (s Graph) look(fn func(f file, n counts, at int) error) error {
	f, err := s.folder.open(name(s.timestep, s.files.Graph, graphKind))
	if err != nil {
		return err
	}
	at, end := f.end-countsBytes, make([]byte, countsBytes)
	if _, err = f.ReadAt(end, int64(at)); err == nil {
		err = fn(f, countsOf(end), at)
	}
	return errors.Join(err, f.Close())
}

// Label returns a transaction's label, which may be lethe.Unknown, and whether it was assigned one.
func (s Graph) Label(p lethe.Pseudonym) (label lethe.Label, found bool, err error) {
	f, err := s.folder.open(name(s.timestep, s.files.Assigned, assignedKind))
	if err != nil {
		return lethe.Unknown, false, err
	}
	record, found, err := find(f, 0, f.end/assignedBytes, assignedBytes, p[:])
	if found {
		label, _ = decodeAssigned(record)
	}
	return label, found, errors.Join(err, f.Close())
}

// find returns the one of n ascending records of so many bytes, from an offset on, that begins with a key.
func find(in io.ReaderAt, from, n, bytesEach int, key []byte) (record []byte, found bool, err error) {
	record = make([]byte, bytesEach)
	read := func(i int) {
		if err == nil {
			_, err = in.ReadAt(record, int64(from+i*bytesEach))
		}
	}
	i, found := sort.Find(n, func(i int) int {
		read(i)
		return bytes.Compare(key, record[:len(key)])
	})
	if found {
		read(i)
	}
	return record, found && err == nil, err
}
