// Package kmeans clusters points: k-means++ starts and Lloyd's iteration. Its two steps are
// exported for callers that assign points to centres under further conditions.
package kmeans
