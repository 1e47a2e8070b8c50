// Package protocol trains and measures sharded models the way the paper does
// (Wang, Huai and Wang, USENIX Security 2023, "Experimental Setup"), so that
// methods are compared on one and the same terms.
//
// RunGraph takes a citation graph: a seeded share of the nodes is for training,
// the rest for testing. Inductive, the default, means that training sees the
// graph induced on the training nodes and nothing else; the models are then
// asked about the graph of all nodes. Transductive means that training sees all
// nodes and edges, but no label of a test node; these are dealt into shards too, or,
// as in the paper, all of them are in every shard.
//
// RunStream takes timesteps in Elliptic's format: the first steps train, the
// next validate, the rest test; or every step is scored before it is learnt
// from. Labels that had arrived when a timestep was scored, of which settings can
// assume a share, may be propagated over its graph, and are not measured.
//
// Everything measured is a pure function of data, settings and kernel set, at
// any number of workers; only the seconds are not.
//
//   - settings.go and stream_settings.go say how an ensemble is made and measured
//   - run.go has what a run may use and returns; graphs run in graph_run.go, streams
//     in stream.go, stream_step.go and stream_known.go; expected_steps.go counts
//   - split.go, graph.go, assign.go, partition_only.go, embedding.go,
//     truth.go and shared_nodes.go make slices of data
//   - models.go trains and asks the shards, resume.go takes those that are kept,
//     graph_combine.go and stream_combine.go combine their answers, graph_unseen.go has
//     those on training nodes by models that never saw their labels, forget.go erases
//     nodes, membership.go looks for them afterwards
package protocol
