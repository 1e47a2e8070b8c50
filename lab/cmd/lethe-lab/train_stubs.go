package main

import (
	"lethe/internal/command"
	"lethe/lab/graphs"
	"lethe/lab/protocol"
	"lethe/partition/repair"
)

// fillMinStubs checks the minimum number of stubs, or takes the default: stubs
// beyond those of cut edges help on citation graphs and hardly on streams, see
// docs/partition.md.
func (c *trainCmd) fillMinStubs(kind graphs.Kind) error {
	generates := c.Repair != repair.None && c.Repair != protocol.RepairTruth
	switch {
	case c.MinStubs == nil && generates && kind == graphs.CitationArchive && c.Shards > 1:
		c.MinStubs = new(protocol.GraphMinStubs(c.Model))
	case c.MinStubs == nil:
		c.MinStubs = new(0)
	case *c.MinStubs < 0:
		return command.Usagef("--min-stubs is %d, must be at least 0", *c.MinStubs)
	case *c.MinStubs > 0 && !generates:
		return command.Usagef("--min-stubs is %d, must be 0 with --repair %s, which generates no stubs", *c.MinStubs,
			c.Repair)
	}
	return nil
}
