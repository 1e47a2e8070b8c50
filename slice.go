package lethe

// NoTimestep stands for "there is none", as in the Previous of the first slice.
const NoTimestep Timestep = -1

// Stub is a generated neighbour that stands for an edge lost to sharding
// (subgraph repair). Its features are Lambda times its owner's; it carries no
// label and no loss.
type Stub struct {
	// Owner is the position of the real node it is joined to.
	Owner uint32
	// Lambda is drawn from the pair of pseudonyms it stands for.
	Lambda float32
}

// Slice is what one shard holds of one timestep. It is all that training may
// see of that timestep.
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
	// Edges are the kept ones: both ends in the slice, A < B, ascending.
	Edges []Edge
	// Stubs are ordered by owner, then by the pseudonym they stand for.
	Stubs []Stub
	// Parts are the digests of the slices that this one is the union of; nil for
	// what a shard holds. A union is made for training and never stored.
	Parts []Digest
}

// Row returns the features of node i. It aliases the slice.
func (s *Slice) Row(i int) []float32 {
	return s.Features[i*s.FeatureCount : (i+1)*s.FeatureCount]
}

// Labelled counts the nodes that carry a loss.
func (s *Slice) Labelled() int {
	n := 0
	for _, l := range s.Labels {
		if l != Unknown {
			n++
		}
	}
	return n
}
