module github.com/mlgkernel/mlg

go 1.26
