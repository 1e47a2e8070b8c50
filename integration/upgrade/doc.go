// Package upgrade holds the test that a data directory of an earlier commit is
// opened, verified and continued.
//
// testdata has one archive per format that was ever written, named by the last
// commit that wrote it, with the data directory (data) and the dataset it came
// from (stream). To add one, run with the binary of that commit:
//
//	lethe generate --out stream --steps 5 --nodes-per-step 60 --features 6 --seed 3
//	lethe demo --dataset stream --steps 4 --data-dir data --set partition.shards=3 \
//	    --set trainer.hidden=8 --set trainer.passes=1 --json
//	tar -czf COMMIT.tar.gz data stream
package upgrade
