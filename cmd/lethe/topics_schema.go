package main

import (
	"lethe/ingest/bus"
	"lethe/ingest/registry"
	"lethe/ingest/schemas"
	"lethe/internal/command"
)

// registryFlags select a schema registry.
type registryFlags struct {
	Registry            string `help:"URL of the schema registry to register the schema with." placeholder:"URL"`
	RegistryCredentials string `help:"File with USER:PASSWORD for the registry." type:"path" placeholder:"FILE"`
}

// register registers the schema of a topic of transactions.
func (f registryFlags) register(a *command.App, topic string) (uint32, error) {
	r := registry.Registry{URL: f.Registry, CredentialsFile: f.RegistryCredentials}
	return r.Register(a.Context, registry.Subject(topic))
}

type topicsSchemaCmd struct {
	Topic string `arg:"" optional:"" help:"Topic whose JSON Schema to print; by default the Protobuf schema."`
	command.ConfigFlags
	registryFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (topicsSchemaCmd) Help() string {
	return `Example:
  lethe topics schema predictions.v1 > predictions.v1.schema.json
  lethe topics schema > transactions.v1.proto
  lethe topics schema --registry http://registry:8081

With a topic it prints the JSON Schema of its records; alert-webhook.v1 is what webhooks deliver.
lethe topics asyncapi describes all topics in one document. Without a topic it prints the Protobuf
schema, which values of transactions.v1 may use instead.

With --registry it registers the Protobuf schema for the values of the topic, under the name that
Confluent's serializers look for, and prints the id. If ingest.schema_id is set to it, records with
other schemas become dead letters. lethe itself contacts no registry.`
}

// Run prints the schema, or registers it.
func (c *topicsSchemaCmd) Run(a *command.App) error {
	if c.Topic != "" {
		return c.printTopic(a)
	}
	if c.Registry == "" {
		return a.Print(c.JSON, map[string]any{"schema": schemas.Transactions}, "%s", schemas.Transactions)
	}
	config, err := c.Load(a, nil)
	if err != nil {
		return err
	}
	topic := config.Kafka.Name(bus.Transactions)
	id, err := c.register(a, topic)
	if err != nil {
		return err
	}
	return a.Print(c.JSON, map[string]any{"id": id, "subject": registry.Subject(topic)},
		"%s has id %d (ingest.schema_id)\n", registry.Subject(topic), id)
}

// printTopic prints the JSON Schema of a topic, which is a JSON document either way.
func (c *topicsSchemaCmd) printTopic(a *command.App) error {
	if c.Registry != "" {
		return command.Usagef("--registry takes the Protobuf schema: leave the topic out")
	}
	text, err := schemas.Schema(c.Topic)
	if err != nil {
		return command.Usagef("%v", err)
	}
	_, err = a.Stdout.Write(text)
	return err
}
