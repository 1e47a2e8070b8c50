package door

import (
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// served are the requests that the broker supports, with the newest version of each. They are the newest versions
// without tagged fields, which kmsg decodes for minutes when their count is forged. The two exceptions are checked
// in check.go before kmsg decodes them. All clients since Kafka 2.1 support these versions. Requests between
// brokers, for cluster administration, and for telemetry are absent.
//
//nolint:gochecknoglobals // a table
var served = map[kmsg.Key]int16{
	kmsg.Produce: 8, kmsg.Fetch: 11, kmsg.ListOffsets: 5, kmsg.OffsetForLeaderEpoch: 3, kmsg.DeleteRecords: 1,
	kmsg.Metadata: 12, kmsg.ApiVersions: 2,
	kmsg.OffsetCommit: 7, kmsg.OffsetFetch: 5, kmsg.FindCoordinator: 2, kmsg.JoinGroup: 5, kmsg.Heartbeat: 3,
	kmsg.LeaveGroup: 3, kmsg.SyncGroup: 3, kmsg.DescribeGroups: 4, kmsg.ListGroups: 2, kmsg.DeleteGroups: 1,
	kmsg.OffsetDelete: 0,
	kmsg.CreateTopics: 4, kmsg.DeleteTopics: 3, kmsg.CreatePartitions: 1,
	kmsg.InitProducerID: 4, kmsg.AddPartitionsToTxn: 2, kmsg.AddOffsetsToTxn: 2, kmsg.EndTxn: 2,
	kmsg.TxnOffsetCommit: 2,
	kmsg.DescribeACLs:    1, kmsg.DescribeConfigs: 3, kmsg.AlterConfigs: 1, kmsg.IncrementalAlterConfigs: 0,
	kmsg.DescribeLogDirs: 1, kmsg.ElectLeaders: 1,
}

// Versions returns the requests that the broker advertises.
func Versions() *kversion.Versions {
	v := kversion.Tip()
	v.EachMaxKeyVersion(func(key, _ int16) {
		if _, ok := served[kmsg.Key(key)]; !ok {
			v.SetMaxKeyVersion(key, -1)
		}
	})
	for key, newest := range served {
		v.SetMaxKeyVersion(int16(key), newest)
	}
	return v
}
