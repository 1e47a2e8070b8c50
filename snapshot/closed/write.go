package closed

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/stored"
)

// A file has, at its end, a version and a CRC-32C of everything before. That of a graph has its rows one after the
// other (stored.Row), each behind its pseudonym, the place of each, its payments, and the counts; that of an assignment
// has a record for each transaction. Places, payments and assignments are of fixed length and ascend, so that one is
// found without reading the others. By the pseudonym before it, a search recognises a whole id, whatever the bytes of
// the row before are: an erased id may be a part of it.
const (
	version = 1
	// placeBytes is the length of a pseudonym with the start and length of its row, paymentBytes that of a PaymentKey,
	// and assignedBytes that of a pseudonym with label and shard.
	placeBytes    = stored.PseudonymBytes + 8 + 4
	paymentBytes  = 1 + 2*stored.PseudonymBytes
	assignedBytes = stored.PseudonymBytes + 1 + 4
	// countsBytes is the length of the numbers of features, transactions and payments.
	countsBytes = 4 + 8 + 8
	// endBytes is the length of version and checksum.
	endBytes = 1 + crc32.Size
	// writeBytes is the size of the write buffer.
	writeBytes = 128 << 10
)

// PaymentKey is a payment as a file has it, which a search of the files can look for.
func PaymentKey(source, target lethe.Pseudonym) []byte { return stored.Key('e', source, target) }

// Write writes the file of a graph, without labels, under its revision. It is durable when Write returns nil.
func (d Folder) Write(g *lethe.Snapshot) error {
	return d.write(name(g.Timestep, g.Revision, graphKind), func(w io.Writer) error {
		places, row := make([]byte, 0, placeBytes*len(g.Nodes)), []byte(nil)
		start := 0
		for i, n := range g.Nodes {
			row = stored.Row{ID: n.ID, Features: g.Row(i)}.AppendTo(append(row[:0], n.Pseudonym[:]...))
			places = append(places, n.Pseudonym[:]...)
			places = binary.BigEndian.AppendUint64(places, uint64(start+stored.PseudonymBytes))
			places = binary.BigEndian.AppendUint32(places, uint32(len(row)-stored.PseudonymBytes))
			start += len(row)
			if _, err := w.Write(row); err != nil {
				return err
			}
		}
		for _, p := range g.Payments {
			places = append(places, PaymentKey(g.Nodes[p.Source].Pseudonym, g.Nodes[p.Target].Pseudonym)...)
		}
		places = binary.BigEndian.AppendUint32(places, uint32(g.FeatureCount))
		places = binary.BigEndian.AppendUint64(places, uint64(len(g.Nodes)))
		_, err := w.Write(binary.BigEndian.AppendUint64(places, uint64(len(g.Payments))))
		return err
	})
}

// Assign writes the file of a graph's labels and shards under its revision. It is durable when Assign returns nil.
func (d Folder) Assign(g *lethe.Snapshot, shards []lethe.ShardID) error {
	return d.write(name(g.Timestep, g.Revision, assignedKind), func(w io.Writer) error {
		records := make([]byte, 0, assignedBytes*len(g.Nodes))
		for i, n := range g.Nodes {
			records = append(append(records, n.Pseudonym[:]...), byte(n.Label))
			records = binary.BigEndian.AppendUint32(records, uint32(shards[i]))
		}
		_, err := w.Write(records)
		return err
	})
}

// write writes a file. Nobody reads it before the owner lists it: a part that an error leaves is replaced or removed.
func (d Folder) write(name string, fill func(io.Writer) error) error {
	err := swapstore.WriteFile(d.FS, d.path(name), func(file io.Writer) error {
		sum := crc32.New(swapstore.Castagnoli())
		w := bufio.NewWriterSize(io.MultiWriter(sum, file), writeBytes)
		if err := fill(w); err != nil {
			return err
		}
		if err := errors.Join(w.WriteByte(version), w.Flush()); err != nil {
			return err
		}
		_, err := file.Write(sum.Sum(nil))
		return err
	})
	if err == nil {
		err = swapstore.SyncDir(d.FS, d.Dir)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
