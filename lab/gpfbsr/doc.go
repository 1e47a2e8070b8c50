// Package gpfbsr has what Wang, Huai and Wang, "Inductive Graph Unlearning" (USENIX Security 2023), have beyond the
// method of the service, to compare with: GPFB-SR, the plain ends of both methods, and the base W - D.
//
//   - config.go, fast.go: the settings, and GPFB-Fast with them;
//   - sr.go, rotation.go, indicator.go: GPFB-SR;
//   - operator.go: the matrices;
//   - cluster.go: k-means without quotas.
package gpfbsr
