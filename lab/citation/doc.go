// Package citation reads the graphs of the paper's evaluation, Cora, CiteSeer,
// DBLP and CS, from NumPy archives (.npz).
//
//   - citation.go opens an archive and collects its arrays
//   - npy.go parses one array, csr.go checks a sparse matrix as it is stored
//   - sparse.go is a sparse matrix
//   - graph.go and features.go make the simple graph and the feature matrix
//   - published.go knows what the published graphs hold and refuses others
//     under their counts
//
// Loading is strict, as that of lethe/dataset is: an archive that was cut short
// or edited into disagreement is refused with the array's name.
package citation
