package main

import (
	"lethe/ingest/schemas"
	"lethe/internal/command"
)

type topicsAsyncAPICmd struct {
	command.ConfigFlags
	JSON bool `help:"Print one JSON document; it is one without the flag, too."`
}

// Help shows an example.
func (topicsAsyncAPICmd) Help() string {
	return `Example:
  lethe topics asyncapi --config lethe.yaml > asyncapi.json

The document (AsyncAPI 3.0.0) names every topic that others write or read, by the name that it has in
this deployment (kafka.topic_prefix), with the JSON Schema of its records.`
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
