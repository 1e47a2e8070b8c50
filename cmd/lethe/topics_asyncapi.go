package main

import (
	"lethe/ingest/schemas"
	"lethe/internal/command"
)

type topicsAsyncAPICmd struct {
	command.ConfigFlags
	JSON bool `help:"No effect: the output is always one JSON document."`
}

// Help shows an example.
func (topicsAsyncAPICmd) Help() string {
	return `Example:
  lethe topics asyncapi --config lethe.yaml > asyncapi.json

The document (AsyncAPI 3.0.0) describes every topic that other programs write or read, by its name
in this deployment (kafka.topic_prefix), with the JSON Schema of its records.`
}

// Run prints the document.
func (c *topicsAsyncAPICmd) Run(a *command.App) error {
	config, err := c.Load(a, nil)
	if err != nil {
		return err
	}
	text, err := schemas.AsyncAPI(config.Kafka.TopicPrefix, a.Version)
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(append(text, '\n'))
	return err
}
