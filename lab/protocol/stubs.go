package protocol

import "lethe/trainer/models"

// GraphMinStubs is how many stubs a node of a citation graph in shards gets at
// least, by lethe's own defaults: with a low cut most nodes have none, and stubs
// act as augmentation. Where neighbours are added up, more stubs than a node has
// neighbours in the whole graph make training unlike the test: four lowered GIN
// on CiteSeer from 72 to 58 %, one keeps most of the gain on Cora
// (docs/partition.md).
func GraphMinStubs(model string) int {
	if models.SumsNeighbours(model) {
		return 1
	}
	return 4
}
