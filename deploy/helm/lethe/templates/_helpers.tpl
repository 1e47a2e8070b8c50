{{- define "lethe.labels" -}}
app.kubernetes.io/name: lethe
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* The configuration file: what the installation says, with what the chart decides on top. */}}
{{- define "lethe.config" -}}
{{- $own := dict "kafka" (dict "brokers" .Values.brokers) "data_dir" "/data" "secret_file" "/etc/lethe/secret/secret" -}}
{{- $hosts := list .Release.Name (printf "%s.%s" .Release.Name .Release.Namespace) (printf "%s.%s.svc" .Release.Name .Release.Namespace) -}}
{{- $http := dict "address" "0.0.0.0:8080" "insecure" (not .Values.tls.enabled) "tokens_file" "/etc/lethe/secret/tokens" "hosts" $hosts -}}
{{- if .Values.tls.enabled -}}
{{- $_ := set $http "tls" (dict "certificate_file" "/etc/lethe/tls/tls.crt" "key_file" "/etc/lethe/tls/tls.key") -}}
{{- end -}}
{{- $_ := set $own "http" $http -}}
{{- toYaml (mustMergeOverwrite (deepCopy .Values.config) $own) -}}
{{- end -}}
