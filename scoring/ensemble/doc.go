// Package ensemble is the shard models of one timestep taken together: it trains
// the columns of all shards side by side, asks their models about a graph, turns
// the shards' answers into probabilities, names the ensemble (its version) and
// says which slices each model must have learnt from (its lineages).
//
//   - layout.go: which models there are, by component and group of shards
//   - component.go: a component read from text, and its defaults
//   - runner.go: training many columns
//   - ensemble.go: the models as a whole, their version, whether they fit
//   - answers.go: asking the models, and what the shards say together
//   - explain.go: what moved the components' logits of a transaction
//   - learn.go: the rows that the meta-model learns from
//   - lineages.go: the lineage that every model and meta-model must have
//
// Whatever trains or asks more than one shard goes through here: the roles, the
// audit, the evaluation and the attacks. So what is measured is what is served.
//
// The package is pure: results depend on the slices, the graph, the options and
// the kernel set, and not on the number of workers. It knows no broker, store,
// clock or log.
package ensemble
