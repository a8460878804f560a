# An image that serves the models and tables of a folder. It has one static program and nothing else.
#
#   docker build -t mlg .
#   docker run -p 8642:8642 -v "$PWD/data:/data:ro" -v "$PWD/token:/token:ro" mlg
#
# The file token has what everyone has to know, at least 16 characters on one line. For HTTPS add --tls-cert and --tls-key
# with files in /data, or put a proxy in front; for files of users leave out --read-only.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -o /mlg ./cmd/mlg

FROM scratch
COPY --from=build /mlg /mlg
USER 65534:65534
EXPOSE 8642
ENTRYPOINT ["/mlg", "serve", "--folder", "/data", "--addr", "0.0.0.0", "--port", "8642", "--token", "/token"]
CMD ["--read-only"]
