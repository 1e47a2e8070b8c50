package snapshot

import (
	"encoding/binary"

	"lethe"
)

// Info says how far a timestep is and how much it holds.
type Info struct {
	Timestep lethe.Timestep
	State    lethe.State
	// Revision is 0 while the timestep is open.
	Revision lethe.Revision
	// Nodes counts transactions.
	Nodes int
	// Payments counts the payments of the graph or, while the timestep is open,
	// those that are pending and were not refused.
	Payments int
	// Labels counts the labels that are pending and were not refused or, once the
	// timestep is settled, the transactions labelled licit or illicit.
	Labels int
	// Previous is the settled timestep before this one, or lethe.NoTimestep.
	Previous lethe.Timestep
	// Waiting counts the late records that wait to become part of a closed timestep.
	Waiting int
	// Reopened is the revision that late records, or a timestep that was inserted or
	// is gone before this one, gave it last; the first one at least. Revisions after
	// it are those of erasures.
	Reopened lethe.Revision
}

// known reports whether the timestep takes part in closing and settling. What
// only payments or labels name is judged with the next one that does.
func (i Info) known() bool { return i.State > lethe.Open || i.Nodes > 0 }

// empty reports whether there is nothing left to remember.
func (i Info) empty() bool { return !i.known() && i.Payments == 0 && i.Labels == 0 }

// Content is a closed or settled timestep.
type Content struct {
	Info Info
	// Snapshot has the labels once the timestep is settled; before, every label
	// is lethe.Unknown.
	Snapshot *lethe.Snapshot
	// Assignment holds each node's shard once the timestep is settled, else nil.
	Assignment []lethe.ShardID
}

func (i Info) encode() []byte {
	dst := append([]byte{}, byte(i.State))
	dst = binary.BigEndian.AppendUint32(dst, uint32(i.Revision))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Nodes))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Payments))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Labels))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Previous))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Waiting))
	return binary.BigEndian.AppendUint32(dst, uint32(i.Reopened))
}

func decodeInfo(t lethe.Timestep, value []byte) (Info, error) {
	c := cursorOver(value)
	i := Info{
		Timestep: t,
		State:    lethe.State(c.Uint8()),
		Revision: lethe.Revision(c.Uint32()),
		Nodes:    int(c.Uint64()),
		Payments: int(c.Uint64()),
		Labels:   int(c.Uint64()),
		Previous: lethe.Timestep(c.Uint64()),
	}
	if i.Reopened = min(i.Revision, 1); c.Left() > 0 { // version 1 ends here
		i.Waiting, i.Reopened = int(c.Uint64()), lethe.Revision(c.Uint32())
	}
	return i, c.close("timestep")
}
