// Package ensemble handles the models of all shards at one timestep together: it trains the columns
// of all shards in parallel, evaluates their models on a graph, combines the results into
// probabilities, computes the version of the ensemble, and derives which slices each model must
// have learned from (its lineage).
//
//   - layout.go: the models, by component and group of shards
//   - component.go: parsing of a component, and its defaults
//   - runner.go: training many columns
//   - ensemble.go: the models as a whole, their version and lineages
//   - answers.go: evaluation of the models, and the combined result
//   - explain.go: the attribution of the components' logits of a transaction
//   - learn.go: the rows that the meta-model learns from
//   - lineages.go: the lineage that every model and meta-model must have
//
// All code that trains or evaluates more than one shard uses this package: the roles, the audit,
// the evaluation and the attacks. So measurements use the served code.
//
// The package is pure: results depend on the slices, the graph, the options and the kernel set, and
// not on the number of workers. It uses no broker, store, clock or log.
package ensemble
