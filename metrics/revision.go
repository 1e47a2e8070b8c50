package metrics

import "runtime/debug"

// Revision returns the commit that a program was built from, or nothing if its build information does not name it.
// Its arguments are the results of debug.ReadBuildInfo.
func Revision(build *debug.BuildInfo, known bool) string {
	if !known {
		return ""
	}
	for _, s := range build.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
