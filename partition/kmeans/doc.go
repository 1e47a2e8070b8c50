// Package kmeans has the steps of k-means: k-means++ starts, distances to centres, and centres that move.
// How points are assigned to centres is the caller's.
package kmeans
