package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"lethe/trainer/kernels"
)

type versionCmd struct {
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (versionCmd) Help() string {
	return "Example:\n  lethe version --json\n\nThe kernel set is named on every receipt, because bits may differ across kernel sets."
}

type versionInfo struct {
	Version   string `json:"version"`
	Commit    string `json:"commit,omitempty"`
	Go        string `json:"go"`
	Platform  string `json:"platform"`
	KernelSet string `json:"kernel_set"`
}

// Run prints the version.
func (c *versionCmd) Run(a *app) error {
	info := versionInfo{
		Version:   version,
		Go:        runtime.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH,
		KernelSet: kernels.Default().Name(),
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				info.Commit = s.Value
			}
		}
	}
	if c.JSON {
		return a.printJSON(info)
	}
	fmt.Fprintf(a.stdout, "lethe %s (%s, %s), kernels %s\n", info.Version, info.Go, info.Platform, info.KernelSet)
	return nil
}
