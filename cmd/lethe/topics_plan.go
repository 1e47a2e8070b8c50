package main

import (
	"fmt"

	"lethe/internal/command"
)

type topicsPlanCmd struct{ topicFlags }

// Help shows an example.
func (topicsPlanCmd) Help() string {
	return `Example:
  lethe topics plan --brokers kafka-1:9092

It prints the topics that would be created with their settings, the settings that would change, and
what apply leaves to operators: the replication factor of existing topics.`
}

// Run prints the changes that apply would make.
func (c *topicsPlanCmd) Run(a *command.App) error {
	client, err := c.open(a)
	if err != nil {
		return err
	}
	defer client.Close()
	changes, err := client.Admin().Plan(a.Context)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(map[string]any{"changes": changes})
	}
	for _, change := range changes {
		fmt.Fprintln(a.Stdout, change)
	}
	if len(changes) == 0 {
		fmt.Fprintln(a.Stdout, "nothing to change")
	}
	return nil
}
