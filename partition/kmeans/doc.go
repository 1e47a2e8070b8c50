// Package kmeans clusters points: k-means++ starts and Lloyd's iteration, and its
// two steps for those who assign points to centres under conditions of their own.
package kmeans
