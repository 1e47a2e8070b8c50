// Package attack measures what an erasure leaves to be found. It trains lethe on
// a stream, has transactions erased through the topics as a compliance
// department would, and then attacks what is published before and after:
//
//   - membership inference on the unlearned models alone: threshold on the loss
//     (Yeom et al., "Privacy Risk in Machine Learning", CSF 2018) and a trained
//     attack (Shokri et al., "Membership Inference Attacks Against Machine
//     Learning Models", S&P 2017);
//   - membership inference from both versions: the distance of the posteriors
//     (Wang, Huai and Wang, "Inductive Graph Unlearning", USENIX Security 2023)
//     and the attacks of Chen et al., "When Machine Unlearning Jeopardizes
//     Privacy", CCS 2021, by logistic regression, boosted trees and a multilayer
//     perceptron;
//   - edge inference from similar posteriors (He et al., "Stealing Links from
//     Graph Neural Networks", USENIX Security 2021);
//   - the degree residue: stubs that still stand for an erased neighbour.
//
// Targets are drawn at random from the labelled transactions: half are sent and
// erased (members), half are never sent (outsiders). If the erasure is complete
// the two are exchangeable, and no attack on what is left can tell them apart
// but by chance. An attack that finds nothing says something only if it finds
// something where there is something: each has a positive control, and without
// success there its verdict is NoPower.
//
//   - options.go and run.go say what is attacked and run it; graph.go makes its graphs
//   - scenario.go draws the targets, deployment.go runs lethe and has them erased,
//     topics.go reads what it published, replica.go trains the same in memory and
//     oracle.go asks models
//   - membership.go, features.go, learner.go, edges.go and residue.go are the attacks,
//     control.go their positive controls
//   - findings.go, report.go, table.go and files.go hold and write what came out
package attack
