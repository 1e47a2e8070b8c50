package main

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"lethe/configs"
	"lethe/internal/command"
)

type configCmd struct {
	Print    configPrintCmd    `cmd:"" help:"Print the configuration in effect."`
	Validate configValidateCmd `cmd:"" help:"Check the configuration and report all problems."`
	Schema   configSchemaCmd   `cmd:"" help:"Print the JSON Schema of configuration files."`
}

// Help shows an example.
func (configCmd) Help() string {
	return "Example:\n  lethe config print > lethe.yaml\n  lethe config validate --config lethe.yaml"
}

type configPrintCmd struct {
	command.ConfigFlags
	Redact bool `help:"Omit the paths of key files."`
	JSON   bool `help:"Print one JSON document."`
}

// Help shows an example.
func (configPrintCmd) Help() string {
	return `Example:
  lethe config print --config lethe.yaml --set trainer.hidden=128

Flags override environment variables (LETHE_TRAINER_HIDDEN), which override the file, which
overrides the defaults.`
}

// Run prints the configuration.
func (c *configPrintCmd) Run(a *command.App) error {
	config, err := c.Load(a, nil)
	if err != nil {
		return err
	}
	text, err := config.YAML(c.Redact)
	if err != nil {
		return err
	}
	if c.JSON {
		// Converted through the text, for the names of keys and for redaction.
		var tree map[string]any
		if err := yaml.Unmarshal(text, &tree); err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		return a.PrintJSON(tree)
	}
	_, err = a.Stdout.Write(text)
	return err
}

type configValidateCmd struct {
	command.ConfigFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (configValidateCmd) Help() string {
	return "Example:\n  lethe config validate --config lethe.yaml"
}

// Run checks the configuration.
func (c *configValidateCmd) Run(a *command.App) error {
	_, err := c.Load(a, nil)
	if !c.JSON {
		if err == nil {
			fmt.Fprintln(a.Stdout, "the configuration is valid")
		}
		return err
	}
	problems := []string{}
	if err != nil {
		problems = strings.Split(strings.TrimPrefix(err.Error(), "configuration: "), "; ")
	}
	return errors.Join(a.PrintJSON(map[string]any{"ok": err == nil, "problems": problems}), err)
}

type configSchemaCmd struct{}

// Help shows an example.
func (configSchemaCmd) Help() string {
	return `Example:
  lethe config schema > lethe.schema.json

Editors that know YAML schemas complete keys with it if the first line of the file is
"# yaml-language-server: $schema=lethe.schema.json".`
}

// Run prints the schema.
func (configSchemaCmd) Run(a *command.App) error { return a.PrintJSON(configs.Schema()) }
