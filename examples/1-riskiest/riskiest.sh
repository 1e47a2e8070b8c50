#!/bin/sh
# Prints the three likeliest alerts of a lethe at the address in the first argument, as the JSON that it answers.
curl -sSf "$1/api/v1/alerts?limit=3"
