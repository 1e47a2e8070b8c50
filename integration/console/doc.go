// Package console plays people at the console of a real lethe in a real browser: an analyst, a
// compliance officer, an operator, and somebody who means harm. The Go test starts lethe and feeds
// it; the journeys are in the files *.test.mjs, for Node and Playwright, which make console installs.
package console
