module github.com/mlgkernel/mlg

go 1.26

require (
	github.com/alecthomas/kong v1.16.0
	github.com/klauspost/compress v1.20.3
	github.com/rogpeppe/go-internal v1.14.1
	golang.org/x/image v0.30.0
	golang.org/x/sys v0.34.0
	golang.org/x/term v0.33.0
	gonum.org/v1/gonum v0.17.0
)

require (
	golang.org/x/text v0.28.0 // indirect
	golang.org/x/tools v0.35.0 // indirect
)
