package dataset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// RowOptions say what a graph has that is a row of a table: structures, and values beside them. Their names are
// those of the columns of the training data.
type RowOptions struct {
	Structures []string `json:"structures"`
	Numbers    []string `json:"numbers,omitempty"`
	Categories []string `json:"categories,omitempty"`
	// Reactions says that the structures are reactions, of which each has three parts.
	Reactions bool `json:"reactions,omitempty"`
}

// reactionParts are the structures of a reaction SMILES, in their order.
var reactionParts = []string{"reactants", "agents", "products"}

// Why a column of values is a number or a category.
const (
	isNumber   = "a number"
	isCategory = "a category"
)

// Row says what the graphs are that are rows of a table, nil where they are not.
func (r Roles) Row() *RowOptions {
	if len(r.More) == 0 && len(r.With) == 0 && !r.Reactions {
		return nil
	}
	out := &RowOptions{Reactions: r.Reactions}
	for _, s := range r.structures() {
		out.Structures = append(out.Structures, s.part())
	}
	for _, v := range r.With {
		if v.Why == isNumber {
			out.Numbers = append(out.Numbers, v.part())
		} else {
			out.Categories = append(out.Categories, v.part())
		}
	}
	return out
}

// RowOf says what the parts of rows are, nil for other graphs. It is nil for reactions too, whose parts do not
// have the names of columns.
func RowOf(graphs []*graph.Graph) *RowOptions {
	structures, numbers, categories := graph.PartNames(graphs)
	reaction := func(name string) bool {
		return name == reactionParts[0] || strings.HasSuffix(name, " "+reactionParts[0])
	}
	if structures == nil || slices.ContainsFunc(structures, reaction) {
		return nil
	}
	return &RowOptions{Structures: structures, Numbers: numbers, Categories: categories}
}

// part returns the name of the part that a column gives.
func (r Role) part() string {
	if r.Part != "" {
		return r.Part
	}
	return r.Column
}

// structures returns the columns of structures that are read.
func (r Roles) structures() []Role { return append([]Role{r.Structure}, r.More...) }

// structureRoles finds the columns of structures: those that are asked for, those of the model, or the one that looks like it.
func (c *Columns) structureRoles(o Options, what string) (first Role, more []Role, err error) {
	var all []Role
	switch {
	case o.Structure != "":
		all, err = c.given(o.Structure, what)
	case o.Rows != nil && len(o.Rows.Structures) > 1:
		all, err = c.parts(o.Rows.Structures, whyModel, what)
	default:
		first, err = c.structureRole(what)
		all = []Role{first}
	}
	if err != nil {
		return first, nil, err
	}
	if o.Rows != nil {
		if len(all) != len(o.Rows.Structures) {
			return first, nil, fmt.Errorf("%d columns of structures are asked for, want %d: %s", len(all), len(o.Rows.Structures), quoteList(o.Rows.Structures))
		}
		for i, name := range o.Rows.Structures {
			all[i].Part = name
		}
	}
	return all[0], all[1:], nil
}

// whyModel is why a column is a part of rows that the model has.
const whyModel = "the model has it"

// parts returns the columns that have the names of parts.
func (c *Columns) parts(names []string, why, what string) (out []Role, err error) {
	for _, name := range names {
		column := c.find(name)
		if column == "" {
			return nil, fmt.Errorf("no %s %q among %s, which the model compares", what, name, quoteList(c.Names))
		}
		out = append(out, Role{Column: column, Why: why, Part: name})
	}
	return out, nil
}

// rowRoles finds what is beside the structures, and whether these are reactions.
func (c *Columns) rowRoles(r *Roles, o Options, what string) error {
	if o.Rows == nil {
		r.Reactions = r.Structure.Column != "" && c.reactions(r.Structure.Column)
		return c.valueRoles(r, o, what)
	}
	r.Reactions = o.Rows.Reactions
	numbers, err := c.parts(o.Rows.Numbers, isNumber, what)
	if err != nil {
		return err
	}
	categories, err := c.parts(o.Rows.Categories, isCategory, what)
	r.With = append(numbers, categories...)
	return err
}

// valueRoles finds the columns that Options.With names, and whether they are numbers.
func (c *Columns) valueRoles(r *Roles, o Options, what string) error {
	if o.With == "" {
		return nil
	}
	plain, kinds := []string{}, map[string]string{}
	for _, name := range strings.Split(o.With, ",") {
		name = strings.TrimSpace(name)
		for suffix, kind := range map[string]string{":number": isNumber, ":category": isCategory} {
			if cut, ok := strings.CutSuffix(name, suffix); ok && c.find(name) == "" {
				name = cut
				kinds[c.find(name)] = kind
			}
		}
		plain = append(plain, name)
	}
	all, err := c.given(strings.Join(plain, ","), what)
	if err != nil {
		return err
	}
	for _, v := range all {
		if role, _ := r.of(v.Column); role != "" {
			return fmt.Errorf("the %s %q is the %s, and cannot be a value beside it", what, v.Column, role)
		}
		d := c.describe(v.Column)
		switch {
		case kinds[v.Column] != "":
			v.Why = kinds[v.Column]
		case d.Numeric && !hasWord(v.Column, besideWords) && !hasWord(v.Column, idWords):
			v.Why = isNumber
		default:
			v.Why = isCategory
		}
		r.With = append(r.With, v)
	}
	return nil
}

// Structures returns the columns that are, or may be, further structures of rows.
func (c *Columns) Structures() []string {
	out := roleNames(c.Roles.More)
	if c.Roles.Structure.Column != "" {
		out = append(out, c.otherStructures(c.Roles)...)
	}
	return out
}

// reactions reports whether the values of a column are reaction SMILES.
func (c *Columns) reactions(name string) bool {
	some := false
	for _, v := range c.Values(name) {
		if !Missing(v) {
			if some = splitReaction(v) != nil; !some {
				return false
			}
		}
	}
	return some
}

// looksLikeReaction reports whether a value is a reaction SMILES.
func looksLikeReaction(v string) bool {
	parts := splitReaction(v)
	for _, p := range parts {
		if p != "" && !looksLikeSMILES(p) {
			return false
		}
	}
	return parts != nil
}

// splitReaction returns the reactants, agents and products of a reaction SMILES, nil for another text. A ">" inside
// brackets separates nothing.
func splitReaction(text string) []string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), " ") // without a name
	var out []string
	from, depth := 0, 0
	for i, c := range text {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '>' && depth == 0:
			out, from = append(out, text[from:i]), i+1
		}
	}
	if out = append(out, text[from:]); len(out) != len(reactionParts) {
		return nil
	}
	return out
}

// maxShared is the number of different structures that a reader of rows keeps, to make each once.
const maxShared = 1 << 16

// row makes a graph of the parts of a record. molecule is that of an SDF, nil for a table.
func (t *tableReader) row(r record, id, target string) (*graph.Graph, error) {
	s := t.s
	var parts []graph.Part
	add := func(name string, g *graph.Graph, value bool) {
		parts = append(parts, graph.Part{Name: name, Graph: g, Value: value})
	}
	some := false
	for _, role := range s.roles.structures() {
		texts, names := []string{s.beside.Value(role.Column)}, []string{role.part()}
		if s.roles.Reactions {
			if texts, names = splitReaction(texts[0]), slices.Clone(reactionParts); texts == nil {
				return nil, &lineError{r.line, fmt.Errorf("%s in the column %q, want a reaction SMILES with two >", quote([]byte(s.beside.Value(role.Column))), role.Column)}
			}
			if len(s.roles.More) > 0 {
				for i := range names {
					names[i] = role.part() + " " + names[i]
				}
			}
		}
		for i, text := range texts {
			var g *graph.Graph
			var err error
			if r.molecule != nil {
				g, err = s.moleculeGraph(r.molecule, "", "")
				g, err = s.partOf(g, err)
			} else {
				g, err = s.structure(text, r.line)
			}
			if err != nil {
				return nil, &lineError{r.line, fmt.Errorf("%s: %w", names[i], withoutLine(err))}
			}
			some = some || g.N() > 0
			add(names[i], g, false)
		}
	}
	if !some {
		return nil, &lineError{r.line, fmt.Errorf("no structure in the columns %s", quoteList(roleNames(s.roles.structures())))}
	}
	for _, role := range s.roles.With {
		value, g := s.beside.Value(role.Column), graph.Absent()
		switch x, ok := finite(value); {
		case Missing(value):
		case role.Why != isNumber:
			g = graph.Category(strings.Clone(value))
		case !ok:
			return nil, &lineError{r.line, fmt.Errorf("%s%s in the column %q", quote([]byte(value)), wantNumber, role.Column)}
		default:
			g = graph.Number(x)
		}
		add(role.part(), g, true)
	}
	return graph.Row(id, target, parts)
}

// Names returns the names of the parts, in the order in which ParseSMILES wants them.
func (r *RowOptions) Names() []string { return slices.Concat(r.Structures, r.Numbers, r.Categories) }

// parseRow returns the row that a text has, with semicolons between the parts.
func (o Options) parseRow(text string) (*graph.Graph, error) {
	names, cells := o.Rows.Names(), strings.Split(text, ";")
	if len(cells) != len(names) {
		return nil, fmt.Errorf("%s, want %d with semicolons between them: %s", counted(len(cells), "part", "parts"), len(names), strings.Join(names, "; "))
	}
	s := &stream{opts: o, warn: &warnings{}}
	s.roles.Reactions = o.Rows.Reactions
	for i, name := range names {
		cells[i] = strings.TrimSpace(cells[i])
		switch n := len(o.Rows.Structures); {
		case i == 0:
			s.roles.Structure = Role{Column: name}
		case i < n:
			s.roles.More = append(s.roles.More, Role{Column: name})
		case i < n+len(o.Rows.Numbers):
			s.roles.With = append(s.roles.With, Role{Column: name, Why: isNumber})
		default:
			s.roles.With = append(s.roles.With, Role{Column: name, Why: isCategory})
		}
	}
	s.beside = Fields{Names: names, Values: cells}
	g, err := (&tableReader{s: s}).row(record{}, "", "")
	return g, withoutLine(err)
}

func withoutLine(err error) error {
	if e, ok := err.(*lineError); ok {
		return e.err
	}
	return err
}

// structure returns the graph of a structure of a row, which is one for equal texts, and none for a missing one.
func (s *stream) structure(text string, line int) (*graph.Graph, error) {
	if Missing(text) {
		return graph.Absent(), nil
	}
	if g := s.shared[text]; g != nil {
		return g, nil
	}
	g, err := s.smiles(text, "", "", line)
	if g, err = s.partOf(g, err); err != nil {
		return nil, err
	}
	if s.shared == nil {
		s.shared = map[string]*graph.Graph{}
	}
	if len(s.shared) < maxShared {
		s.shared[strings.Clone(text)] = g
	}
	return g, nil
}

// partOf returns a structure of a row as the options want graphs; see Reader.Try.
func (s *stream) partOf(g *graph.Graph, err error) (*graph.Graph, error) {
	if err == nil {
		g, err = s.opts.EdgeWeight.apply(g)
	}
	if err == nil {
		g, err = s.opts.parts(g, s.warn)
	}
	return g, err
}

// noRows returns an error if the options want rows of a table, which other data are not.
func (o Options) noRows(format Format) error {
	if slices.Contains([]Format{CSV, TSV, Parquet, SDF}, format) {
		return nil
	}
	if o.Rows != nil {
		return fmt.Errorf("the model compares rows of a table; want one with the columns %s", quoteList(o.Rows.Names()))
	}
	if o.With != "" || strings.Contains(o.Structure, ",") {
		return fmt.Errorf("columns beside the structure are asked for, which data in the format %s do not have; want a table", format)
	}
	return nil
}
