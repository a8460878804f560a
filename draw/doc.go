// Package draw makes the pictures: molecules and other graphs with values on their
// vertices, charts, and reports that hold them. docs/explanation/pictures.md says how they are made.
//
//	g, _ := dataset.ParseSMILES("CN1CCC23C4Oc5c(O)ccc(CC1C2C=CC4O)c35", dataset.DefaultOptions())
//	o := draw.DefaultOptions()
//	o.Values = draw.NewValues("contribution", contributions)
//	p, err := draw.Graph(g, o)
//	svg := p.SVG()
//	png, err := p.PNG(2)
//
// Every function that draws returns a [Picture], which is written as SVG or PNG. Equal
// input gives equal bytes: layouts are deterministic, coordinates in SVG have two decimals,
// and PNG text is set in fonts that come with the package. Texts from data may hold
// anything; they are escaped, and cut where they would not fit.
package draw
