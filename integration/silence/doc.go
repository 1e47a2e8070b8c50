// Package silence provokes stops of a deployment with the real binary, and holds it to a promise: what stands still is
// told on every surface within a minute, and no longer told a minute after it is over.
//
//	silence_test.go      the deployments that run side by side; what a stop is
//	deployment_test.go   one process, and those who send it records
//	surfaces_test.go     status, doctor, metric, alert rule, log and /readyz
//	defaults_test.go     stops under the settings that nobody has changed
//	stream_test.go       timesteps that do not end, and labels that do not settle
//	refused_test.go      records that are rejected
//	around_test.go       disks, descriptors, topics and receivers of alerts
//	erasures_test.go     requests that wait for somebody
//	members_test.go      processes that hang or are gone, and their broker
package silence
