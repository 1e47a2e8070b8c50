// Package graphs reads either kind of data set, streams in Elliptic's format and
// citation archives, as the graphs that a partition works on.
package graphs
