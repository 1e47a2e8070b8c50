// Package console is the web interface: pages in the binary that get all their data from the API
// and load nothing from elsewhere. They contain no personal data and need no token; their API
// requests do.
//
//	console.go  the files, with their types, entity tags and content policy
//	static/     the pages: one file per page or part, as modules without a build
//	static/vendor/  Preact, HTM and uPlot with their licences, made by .ci/vendor
package console
