// Package upgrade tests that this version continues with the data directories of all releases. testdata/VERSION.zip has
// the data directory, the stream that it was made of, and the release's answers of the API. Each release adds its own:
//
//	RELEASE=v0.2.0 go test -count=1 -run TestMakeTheDirectoryOfARelease ./integration/upgrade
package upgrade
