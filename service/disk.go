package service

import (
	"fmt"

	"lethe/metrics/events"
	"lethe/service/waiting"
)

// diskComponent is the name of the data directory's disk in health checks.
const diskComponent = "disk"

// watchDisk is a patientfs.Watch.
func (o *outages) watchDisk(path string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		if after, over := o.disk.end(path); over {
			o.log.Info("the disk takes writes again", "after", after)
		}
	} else if o.disk.add(path, err) {
		o.log.Error("waiting for the disk to take writes", "what", path, "and_more", len(o.disk.places)-1,
			"error", err.Error())
	}
	o.publishDisk()
}

// brokerWrites records whether the embedded broker's disk accepts writes.
func (p *topicsProcess) brokerWrites() {
	if p.broker == nil {
		return
	}
	folder := BrokerDir(p.config.DataDir)
	if err := p.broker.Refusing(); err != nil || p.outages.waitsForDisk(folder) {
		p.outages.watchDisk(folder, err)
	}
}

// waitsForDisk reports whether a path cannot be written at present.
func (o *outages) waitsForDisk(path string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, waits := o.disk.places[path]
	return waits
}

// publishDisk reports the state of the disk to health checks and metrics. The caller holds mu.
func (o *outages) publishDisk() {
	o.sink(events.DiskChanged{Paths: len(o.disk.places)})
	// A file system's error contains the path.
	if _, why := waiting.First(o.disk.places); why != "" {
		if more := len(o.disk.places) - 1; more > 0 {
			why += fmt.Sprintf(" (and %d more)", more)
		}
		o.health.Set(diskComponent, false, "it takes no writes, which wait: "+why)
		return
	}
	o.health.Set(diskComponent, true, "")
}
