# Build: docker build --build-arg VERSION=$(git describe --tags --always) -t lethe .
# The image holds one static binary, the authorities of certificates, and an empty /data that its user
# owns: no shell, no package manager, nothing else. deploy/Containerfile makes the same of a binary that is
# built already.

FROM golang:1.26 AS build
WORKDIR /src
# The service is a module of its own: the workspace only adds the lab.
ENV GOWORK=off
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/lethe ./cmd/lethe \
    && mkdir /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/lethe /lethe
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
# Inside a container 127.0.0.1 is reachable from nowhere. lethe run refuses this address without a login: give
# LETHE_HTTP_TOKENS_FILE, or LETHE_HTTP_WITHOUT_LOGIN=true if the port is published to 127.0.0.1 alone.
ENV LETHE_DATA_DIR=/data \
    LETHE_HTTP_ADDRESS=0.0.0.0:8080 \
    LETHE_HTTP_INSECURE=true
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["/lethe"]
CMD ["run"]
