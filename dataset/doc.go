// Package dataset reads and writes collections of graphs in common file formats. Two collections
// are built in.
//
//	ds, err := dataset.Read(ctx, "MUTAG.zip", dataset.DefaultOptions())
//
// Read keeps the whole collection. Open gives one graph after the other. It takes constant
// memory for the formats whose graphs follow each other: SMILES, tables, SDF, Graph JSON
// Lines, and networks (GraphML, GEXF, GML, Pajek, node-link JSON, DOT) with many graphs in a file.
//
// Every reader
//
//   - recognises gzip by its first bytes,
//   - names file and line in its errors,
//   - refuses input beyond the limits in [Limits] before it is held in memory,
//   - keeps directions, joins parallel edges, and leaves self-loops out of undirected graphs.
//     A warning counts each of these.
//
// [Options] say how graphs are read: formats, columns, labels of atoms, edge weights. A model
// keeps them.
//
// Labels are texts. docs/reference/formats.md describes the formats, what is read from each, and
// what is ignored; docs/reference/tables.md describes columns.
package dataset
