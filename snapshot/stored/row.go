package stored

import (
	"fmt"

	"lethe"
	"lethe/internal/floatbytes"
)

// Row is a transaction as it is stored: all but its timestep, which its place
// gives.
type Row struct {
	ID       lethe.TransactionID
	Features []float32
}

// Bytes is how long it is as it is stored.
func (r Row) Bytes() int { return 4 + len(r.ID) + floatbytes.Size*len(r.Features) }

// AppendHead appends what a stored row begins with: all but its features.
func (r Row) AppendHead(dst []byte) []byte { return AppendString(dst, string(r.ID)) }

// AppendTo appends the row as it is stored.
func (r Row) AppendTo(dst []byte) []byte { return floatbytes.Append(r.AppendHead(dst), r.Features) }

// Encode returns the row as it is stored.
func (r Row) Encode() []byte { return r.AppendTo(make([]byte, 0, r.Bytes())) }

// DecodeRow reads a stored row. Error: ErrCorrupt.
func DecodeRow(value []byte) (Row, error) {
	c := Over(value)
	r := Row{ID: lethe.TransactionID(c.Text())}
	r.Features = c.Float32s(c.Left() / floatbytes.Size)
	return r, c.Done("row")
}

// AddNode appends a stored row to a snapshot. Rows come in the order of their
// pseudonyms, which is the canonical one. Error: ErrCorrupt.
func AddNode(g *lethe.Snapshot, p lethe.Pseudonym, value []byte) error {
	c := Over(value)
	id := lethe.TransactionID(c.Text())
	width := c.Left() / floatbytes.Size
	g.Features = c.AppendFloat32s(g.Features, width)
	if err := c.Done("row"); err != nil {
		return err
	}
	if width != g.FeatureCount {
		return fmt.Errorf("%w: row of %d features, want %d", ErrCorrupt, width, g.FeatureCount)
	}
	g.Nodes = append(g.Nodes, lethe.SnapshotNode{Pseudonym: p, ID: id})
	return nil
}

// AddPayment appends a payment to a snapshot that has all its nodes, and
// reports whether it has both ends.
func AddPayment(g *lethe.Snapshot, source, target lethe.Pseudonym) bool {
	from, foundSource := g.Find(source)
	to, foundTarget := g.Find(target)
	if !foundSource || !foundTarget {
		return false
	}
	g.Payments = append(g.Payments, lethe.Arc{Source: uint32(from), Target: uint32(to)})
	return true
}
