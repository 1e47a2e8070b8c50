package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"lethe"
	"lethe/internal/command"
	"lethe/lab/aggregation"
	"lethe/lab/attack"
	"lethe/lab/baselines"
	"lethe/lab/networks"
	"lethe/lab/protocol"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/trainer"
	"lethe/trainer/models"
)

// vars are what the help texts, lists of values and defaults of the flags take from
// the packages that the flags configure.
func vars() kong.Vars {
	out := kong.Vars{
		"models":       strings.Join(allModels(), ", "),
		"components":   strings.Join(defaultComponents(), ","),
		"partitions":   strings.Join(baselines.Methods(), ", "),
		"assigns":      strings.Join(baselines.Assigns(), ", "),
		"repairs":      strings.Join(protocol.Repairs(), ", "),
		"aggregations": strings.Join(aggregation.Methods(), ", "),
		"schedules":    strings.Join(protocol.Schedules(), ", "),
		"split":        protocol.EllipticSplit().String(),
		"split_steps":  fmt.Sprint(protocol.EllipticSplit().Total()),
		"graph_stubs":  fmt.Sprint(protocol.GraphMinStubs(networks.SAGE)),
		"gin_stubs":    fmt.Sprint(protocol.GraphMinStubs(networks.GIN)),
		"paper_splits": fmt.Sprint(paperSplits),

		"attack_targets_default":  fmt.Sprint(attack.MostTargets),
		"attack_requests_default": fmt.Sprint(attack.MostRequests),
		"attack_steps_default":    fmt.Sprint(attack.EnoughTimesteps),
		"attack_scopes":           strings.Join(lethe.SupportedScopes(), ", "),
	}
	maps.Copy(out, command.VarsOf("cut", baselines.DefaultsOf(partition.MethodGPFBFast)))
	maps.Copy(out, command.VarsOf("mend", repair.Defaults()))
	maps.Copy(out, command.VarsOf("graph", protocol.Defaults(networks.SAGE)))
	maps.Copy(out, command.VarsOf("sgc", protocol.Defaults(networks.SGC)))
	for _, schedule := range protocol.Schedules() {
		of := func(model string) protocol.StreamSettings {
			return protocol.StreamDefaults(model, schedule, protocol.EllipticSplit())
		}
		maps.Copy(out, command.VarsOf(schedule, of(models.EllipticGIN)))
		maps.Copy(out, command.VarsOf(schedule+"_rows", of(trainer.Trees)))
	}
	for name, text := range longHelp() {
		out[name] = os.Expand(text, func(other string) string { return cmp.Or(out[other], "${"+other+"}") })
	}
	return out
}
