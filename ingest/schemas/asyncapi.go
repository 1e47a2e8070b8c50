package schemas

import (
	"encoding/json"
	"fmt"
	"strings"
)

const (
	asyncVersion = "3.0.0"
	// schemaFormat is the media type of JSON Schema, draft 2020-12.
	schemaFormat = "application/schema+json;version=2020-12"
)

type object = map[string]any

// AsyncAPI returns the document that describes the topics of a deployment (AsyncAPI 3.0.0): for
// each topic a channel with its address, and its record with the full schema. prefix is the prefix
// of the topics' names, version that of the program.
func AsyncAPI(prefix, version string) ([]byte, error) {
	channels, operations, messages := object{}, object{}, object{}
	for _, c := range Contracts() {
		message, err := c.message()
		if err != nil {
			return nil, err
		}
		id := strings.NewReplacer(".", "_", "-", "_").Replace(c.Topic)
		messages[id] = message
		channels[id] = object{
			"address":  prefix + c.Topic,
			"title":    c.Title,
			"messages": object{"record": object{"$ref": "#/components/messages/" + id}},
			"bindings": object{"kafka": object{"topic": prefix + c.Topic}},
		}
		action := "send"
		if c.Direction == In {
			action = "receive"
		}
		operations[action+"_"+id] = object{
			"action":   action,
			"channel":  object{"$ref": "#/channels/" + id},
			"messages": []object{{"$ref": "#/channels/" + id + "/messages/record"}},
		}
	}
	text, err := json.MarshalIndent(object{
		"asyncapi": asyncVersion,
		"info": object{
			"title": "lethe", "version": version,
			"description": "The topics that others write (receive) and read (send). Topics are compacted: a record " +
				"without a value deletes what its key had, as when a transaction was erased. Pass over records whose key " +
				"begins with '!', and over fields that are not described here.",
		},
		"defaultContentType": "application/json",
		"channels":           channels,
		"operations":         operations,
		"components":         object{"messages": messages},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("AsyncAPI document: %w", err)
	}
	return text, nil
}

// message describes the records of a topic.
func (c Contract) message() (object, error) {
	text, err := Schema(c.Topic)
	if err != nil {
		return nil, err
	}
	described := object{"schemaFormat": schemaFormat, "schema": json.RawMessage(text)}
	key := object{"type": "string", "description": c.Key}
	out := object{
		"name": c.Topic, "title": c.Title, "bindings": object{"kafka": object{"key": key}},
	}
	if !c.OfHeaders {
		out["payload"] = described
		return out, nil
	}
	out["contentType"], out["headers"] = "application/octet-stream", described
	return out, nil
}
