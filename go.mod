module github.com/mlgkernel/mlg

go 1.26

require gonum.org/v1/gonum v0.17.0

require (
	github.com/alecthomas/kong v1.16.0
	golang.org/x/image v0.30.0
)

require golang.org/x/text v0.28.0 // indirect
