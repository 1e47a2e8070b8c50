// Package deadletters lists rejected records for operators, shows one without personal data, and replays records. It
// needs only brokers, no data directory and no secret.
package deadletters
