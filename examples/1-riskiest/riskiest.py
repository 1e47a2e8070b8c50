"""Lists the three likeliest alerts of a lethe at the address in the first argument."""
import json
import sys
import urllib.request

with urllib.request.urlopen(sys.argv[1] + "/api/v1/alerts?limit=3") as answer:
    page = json.load(answer)
for alert in page["items"]:
    print(f"{alert['ref']} of timestep {alert['timestep']}: {alert['probability']}")
