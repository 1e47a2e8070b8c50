// Package graphlayers has the layers that only the laboratory's networks are made of, one a file: attention, graph
// convolutions, means of neighbours, dropout, and the keyed draws of the latter and of attention losses.
package graphlayers
