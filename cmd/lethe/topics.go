package main

import (
	"fmt"

	"lethe/ingest/bus"
	"lethe/internal/command"
)

type topicsCmd struct {
	Plan   topicsPlanCmd   `cmd:"" help:"Print what apply would change, and change nothing."`
	Apply  topicsApplyCmd  `cmd:"" help:"Create missing topics and correct the settings of others."`
	Check  topicsCheckCmd  `cmd:"" help:"Compare the topics with what lethe needs."`
	Schema topicsSchemaCmd `cmd:"" help:"Print the schema of a topic, or register the one of transactions."`
	ACLs   topicsACLsCmd   `cmd:"" name:"acls" help:"Print or create the ACLs of four principals."`

	AsyncAPI topicsAsyncAPICmd `cmd:"" name:"asyncapi" help:"Print the AsyncAPI document of the topics."`
}

// Help shows an example.
func (topicsCmd) Help() string {
	return "Example:\n  lethe topics check --brokers kafka-1:9092"
}

// topicFlags override the brokers and the topics' settings of the configuration.
type topicFlags struct {
	command.ConfigFlags
	JSON bool `help:"Print one JSON document."`
}

func (f topicFlags) open(a *command.App) (*bus.Client, error) {
	config, err := f.Load(a, nil)
	if err != nil {
		return nil, err
	}
	return reach(a.Context, config)
}

type topicsApplyCmd struct{ topicFlags }

// Help shows an example.
func (topicsApplyCmd) Help() string {
	return `Example:
  lethe topics apply --brokers kafka-1:9092

It never lowers a setting and never deletes a topic. Settings that the brokers refuse are warnings where
lethe runs without them: each says what follows. Those that lethe needs are errors, one a line.`
}

// Run creates missing topics.
func (c *topicsApplyCmd) Run(a *command.App) error {
	client, err := c.open(a)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Admin().Apply(a.Context); err != nil {
		return err
	}
	problems, err := client.Admin().Check(a.Context)
	if err != nil {
		return err
	}
	_, warnings := parted(problems)
	switch {
	case c.JSON:
		return a.PrintJSON(map[string]any{"ok": true, "topics": topicNames(client), "warnings": warnings})
	case len(warnings) == 0:
		fmt.Fprintf(a.Stdout, "%d topics are as they should be\n", len(bus.Topics()))
	default:
		printWarnings(a, warnings)
		fmt.Fprintf(a.Stdout, "%d topics are there, with %d settings that lethe wants and the brokers refuse\n",
			len(bus.Topics()), len(warnings))
	}
	return nil
}

func topicNames(client *bus.Client) []string {
	var out []string
	for _, t := range bus.Topics() {
		out = append(out, client.Name(t))
	}
	return out
}

type topicsCheckCmd struct{ topicFlags }

// Help shows an example.
func (topicsCheckCmd) Help() string {
	return "Example:\n  lethe topics check --brokers kafka-1:9092 --json"
}

// printPace prints the brokers' settings that decide how long erasures take.
func printPace(a *command.App, pace []bus.Pace, unknown error) {
	if unknown != nil {
		fmt.Fprintf(a.Stderr, "how fast erasures are verified depends on log.cleaner.* of the brokers, "+
			"which were not told: %v\n", unknown)
	}
	for _, p := range pace {
		fmt.Fprintln(a.Stdout, p)
	}
}

// Run lists the differences; any is a failure.
func (c *topicsCheckCmd) Run(a *command.App) error {
	client, err := c.open(a)
	if err != nil {
		return err
	}
	defer client.Close()
	problems, err := client.Admin().Check(a.Context)
	if err != nil {
		return err
	}
	lines, warnings := parted(problems)
	// Brokers' own settings are their operators' decision: they are reported, and are no problem.
	pace, unknown := client.Admin().Pace(a.Context)
	if c.JSON {
		result := map[string]any{"ok": len(lines) == 0, "problems": lines, "warnings": warnings, "pace": pace}
		if err := a.PrintJSON(result); err != nil {
			return err
		}
	} else {
		for _, line := range lines {
			fmt.Fprintln(a.Stdout, line)
		}
		printWarnings(a, warnings)
		printPace(a, pace, unknown)
	}
	if len(lines) > 0 {
		return fmt.Errorf("%d differences from what lethe needs (lethe topics plan says what mends each)", len(lines))
	}
	if !c.JSON && len(warnings) == 0 {
		fmt.Fprintf(a.Stdout, "%d topics are as they should be\n", len(bus.Topics()))
	}
	return nil
}

// parted splits problems into those that prevent lethe from running, and warnings.
func parted(problems []bus.Problem) (lines, warnings []string) {
	lines, warnings = []string{}, []string{}
	for _, p := range problems {
		if p.Follows() != "" {
			warnings = append(warnings, p.Warning())
			continue
		}
		lines = append(lines, p.String())
	}
	return lines, warnings
}

func printWarnings(a *command.App, warnings []string) {
	for _, warning := range warnings {
		fmt.Fprintln(a.Stdout, "warning: "+warning)
	}
}
