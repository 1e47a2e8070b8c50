package main

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"

	"lethe/internal/command"
	"lethe/metrics"
	"lethe/trainer/kernels"
)

type versionCmd struct {
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (versionCmd) Help() string {
	return "Example:\n  lethe version --json\n\nEvery receipt names the kernel set, because results may differ " +
		"in bits between kernel sets."
}

type versionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// KernelSet is the default set of this machine, KernelLoops the instructions it uses here.
	KernelSet   string `json:"kernel_set"`
	KernelLoops string `json:"kernel_loops"`
	// KernelSets lists the sets that this machine can run.
	KernelSets []string `json:"kernel_sets"`
}

// Run prints the version.
func (c *versionCmd) Run(a *command.App) error {
	set := kernels.Default()
	info := versionInfo{
		Version:     a.Version,
		Commit:      metrics.Revision(debug.ReadBuildInfo()),
		Go:          runtime.Version(),
		Platform:    runtime.GOOS + "/" + runtime.GOARCH,
		KernelSet:   set.Name,
		KernelLoops: set.Detail,
		KernelSets:  kernels.Available(),
	}
	return a.Print(c.JSON, info, "lethe %s (%s, %s), kernels %s (%s), available: %s\n",
		info.Version, info.Go, info.Platform, info.KernelSet,
		cmp.Or(info.KernelLoops, "plain Go"), strings.Join(info.KernelSets, ", "))
}
