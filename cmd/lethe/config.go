package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"

	"lethe/configs"
)

// configFlags are the flags by which commands share the configuration. They
// beat the environment, which beats the file.
type configFlags struct {
	Config      string            `help:"YAML configuration file." type:"path" placeholder:"FILE"`
	DataDir     string            `help:"Folder of everything this process keeps on disk." placeholder:"DIR"`
	Brokers     []string          `help:"Kafka brokers, host:port; none for the embedded broker." placeholder:"A,B"`
	HTTPAddress string            `name:"http-address" help:"Address of the web interface, metrics and health checks." placeholder:"HOST:PORT"`
	Set         map[string]string `help:"Set any configuration key, as in --set trainer.hidden=128." placeholder:"KEY=VALUE"`
}

// load puts the configuration together. A wrong one is wrong use.
func (f configFlags) load(a *app, extra map[string]any) (configs.Config, error) {
	overrides := make(map[string]any)
	for key, value := range f.Set {
		overrides[key] = value
	}
	if f.DataDir != "" {
		overrides["data_dir"] = f.DataDir
	}
	if len(f.Brokers) > 0 {
		overrides["kafka.brokers"] = f.Brokers
	}
	if f.HTTPAddress != "" {
		overrides["http.address"] = f.HTTPAddress
	}
	for key, value := range extra {
		overrides[key] = value
	}
	c, err := configs.Load(configs.LoadOptions{File: f.Config, Environ: a.environ, Overrides: overrides})
	if err != nil {
		return c, usageError{fmt.Errorf("configuration: %s", oneLine(err))}
	}
	return c, nil
}

// oneLine joins the lines of an error that reports several problems at once.
func oneLine(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}

// logger writes structured logs to standard error.
func (a *app) logger(c configs.Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(a.stderr, options))
	}
	return slog.New(slog.NewTextHandler(a.stderr, options))
}

type configCmd struct {
	Print    configPrintCmd    `cmd:"" help:"Print the configuration in effect."`
	Validate configValidateCmd `cmd:"" help:"Check the configuration and report every problem."`
}

// Help shows an example.
func (configCmd) Help() string {
	return "Example:\n  lethe config print > lethe.yaml\n  lethe config validate --config lethe.yaml"
}

type configPrintCmd struct {
	configFlags
	Redact bool `help:"Leave out the paths of key files."`
	JSON   bool `help:"Print one JSON document."`
}

// Help shows an example.
func (configPrintCmd) Help() string {
	return "Example:\n  lethe config print --config lethe.yaml --set trainer.hidden=128\n\nValues come from the defaults, then the file, then the environment (LETHE_TRAINER_HIDDEN), then the flags."
}

// Run prints the configuration.
func (c *configPrintCmd) Run(a *app) error {
	config, err := c.load(a, nil)
	if err != nil {
		return err
	}
	text, err := config.YAML(c.Redact)
	if err != nil {
		return err
	}
	if c.JSON {
		// By way of the text, for the names of keys and for what is hidden.
		tree, err := yaml.Parser().Unmarshal(text)
		if err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		return a.printJSON(tree)
	}
	_, err = a.stdout.Write(text)
	return err
}

type configValidateCmd struct {
	configFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (configValidateCmd) Help() string {
	return "Example:\n  lethe config validate --config lethe.yaml"
}

// Run checks the configuration.
func (c *configValidateCmd) Run(a *app) error {
	_, err := c.load(a, nil)
	if !c.JSON {
		if err == nil {
			fmt.Fprintln(a.stdout, "the configuration is valid")
		}
		return err
	}
	problems := []string{}
	if err != nil {
		problems = strings.Split(strings.TrimPrefix(err.Error(), "configuration: "), "; ")
	}
	return errors.Join(a.printJSON(map[string]any{"ok": err == nil, "problems": problems}), err)
}
