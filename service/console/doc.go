// Package console is what people see of lethe in a browser: pages that are in the binary, that ask
// the API for everything they show, and that ask nobody else. They hold nothing personal
// themselves and need no token; what they ask for does.
//
//	console.go  the files, with their types, tags and the policy for browsers
//	static/     the pages: one file per page or part, as modules without a build
//	static/vendor/  Preact, HTM and uPlot with their licences, made by .ci/vendor
package console
