package lethe

// NoTimestep means that there is no timestep, for example as Previous of the first slice.
const NoTimestep Timestep = -1

// Stub is a generated neighbour that replaces an edge lost to sharding (subgraph repair). Its
// features are Lambda times its owner's. It has no label and contributes no loss.
type Stub struct {
	// Owner is the position of the real node that it is joined to.
	Owner uint32
	// Lambda is drawn with the pair of pseudonyms of the replaced edge as key.
	Lambda float32
}

// Slice is one shard's part of one timestep. It is the only data of that timestep that training
// may use.
type Slice struct {
	Timestep Timestep
	// Previous is the settled timestep before this one, or NoTimestep.
	Previous Timestep
	Shard    ShardID
	// FeatureCount is the number of features of every node.
	FeatureCount int
	// Nodes ascend.
	Nodes  []Pseudonym
	Labels []Label
	// Features is row-major: len(Nodes) rows of FeatureCount.
	Features []float32
	// Edges are the kept edges: both ends in the slice, A < B, ascending.
	Edges []Edge
	// Stubs are ordered by owner, then by the pseudonym of the replaced neighbour.
	Stubs []Stub
	// Parts are the digests of the slices that this one is the union of, nil for a shard's own
	// slice. A union is built for training and never stored.
	Parts []Digest
}

// Row returns the features of node i. It aliases the slice.
func (s *Slice) Row(i int) []float32 {
	return s.Features[i*s.FeatureCount : (i+1)*s.FeatureCount]
}

// Labelled counts the nodes that contribute a loss.
func (s *Slice) Labelled() int {
	n := 0
	for _, l := range s.Labels {
		if l != Unknown {
			n++
		}
	}
	return n
}
