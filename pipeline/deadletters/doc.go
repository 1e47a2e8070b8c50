// Package deadletters is the operators' side of records that could not be taken: it lists
// them, shows one without what is personal in it, and sends records again. It needs brokers
// only, no data directory and no secret.
package deadletters
