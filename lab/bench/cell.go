package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"lethe"
	"lethe/lab/attack"
	"lethe/lab/protocol"
)

// Cell is one measurement. Exactly one of the pointers is set.
type Cell struct {
	Dataset string `json:"dataset"`
	// Graph trains and measures an ensemble on a citation graph.
	Graph *protocol.Settings `json:"graph,omitempty"`
	// Stream does so on timesteps.
	Stream *protocol.StreamSettings `json:"stream,omitempty"`
	// Partition only partitions, and takes the time.
	Partition *PartitionCell `json:"partition,omitempty"`
	// Unlearn takes the processor time of forgetting.
	Unlearn *UnlearnCell `json:"unlearn,omitempty"`
	// Membership looks for the nodes of a batch after it was forgotten.
	Membership *UnlearnCell `json:"membership,omitempty"`
	// Attack attacks a running deployment.
	Attack *AttackCell `json:"attack,omitempty"`
}

// PartitionCell partitions the graph induced on a share of the nodes.
type PartitionCell struct {
	Settings protocol.Settings `json:"settings"`
}

// UnlearnCell erases a batch of nodes and trains again what that touches.
type UnlearnCell struct {
	Settings protocol.Settings `json:"settings"`
	Batch    int               `json:"batch"`
	// Scope is shard (the paper's) or stubs.
	Scope lethe.Scope `json:"scope"`
}

// Timed tells whether the cell's figures are times or it runs a deployment of its
// own, so that nothing else should run at the same time.
func (c Cell) Timed() bool { return c.Partition != nil || c.Unlearn != nil || c.Attack != nil }

// Result is what a cell measured.
type Result struct {
	Outcome    *protocol.Outcome    `json:"outcome,omitempty"`
	Unlearning *protocol.Forgot     `json:"unlearning,omitempty"`
	Membership *protocol.Membership `json:"membership,omitempty"`
	Attack     *attack.Report       `json:"attack,omitempty"`
	// Seconds is how long the cell took, to foretell the time left.
	Seconds float64 `json:"seconds"`
}

// The versions are part of the keys: raise one when a change of the program
// changes figures, so that old results are not taken for new ones. Attacks and
// the times of forgetting have their own.
const (
	version        = 2
	attackVersion  = 3
	unlearnVersion = 3
)

func (c Cell) version() int {
	switch {
	case c.Attack != nil:
		return attackVersion
	case c.Unlearn != nil:
		return unlearnVersion
	default:
		return version
	}
}

// key names a cell's result in the store.
func (c Cell) key(datasetDigest, kernels string) (string, error) {
	text, err := json.Marshal(struct {
		Version int
		Data    string
		Kernels string
		Cell    Cell
	}{c.version(), datasetDigest, kernels, c})
	if err != nil {
		return "", fmt.Errorf("key of a cell: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}
