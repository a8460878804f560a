package dataset

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mlgkernel/mlg/dataset/chem"
)

// Roles say which columns were taken for what, and why.
type Roles struct {
	Structure Role   `json:"structure"`
	ID        Role   `json:"id"`
	Targets   []Role `json:"targets"`
	// Open are the columns that may be the target, if it is not clear which one is.
	Open []string `json:"open,omitempty"`
	// Others are further columns of structures, such as the solvent. They are not read, but rows in which they differ are
	// no duplicates.
	Others []string `json:"other_structures,omitempty"`
	// More are further columns of structures that are read, and With those of values. Graphs are then rows; see Row.
	// Reactions says that structures are reactions.
	More      []Role `json:"more_structures,omitempty"`
	With      []Role `json:"with,omitempty"`
	Reactions bool   `json:"reactions,omitempty"`
}

// Role is a column that was taken for something, "" for none.
type Role struct {
	Column string `json:"column"`
	Why    string `json:"why"`
	Part   string `json:"part,omitempty"` // the name of a part of a row, "" for that of the column
}

// usualName is why a column has its role whose name is one of the list in docs/reference/tables.md.
const usualName = "a usual name"

// UnreadWarning begins what Roles.Unread says.
const UnreadWarning = "of the columns of structures only "

// Unread says which columns of structures are not read, "" where there are none.
func (r Roles) Unread() string {
	if r.Others == nil {
		return ""
	}
	return UnreadWarning + fmt.Sprintf("%s is read, not %s", r.Structure.Column, strings.Join(r.Others, ", "))
}

// Target returns the name of the first target column, "" for none.
func (r Roles) Target() string {
	if len(r.Targets) == 0 {
		return ""
	}
	return r.Targets[0].Column
}

// of returns the role of a column.
func (r Roles) of(name string) (role, why string) {
	switch name {
	case r.Structure.Column:
		return "structure", r.Structure.Why
	case r.ID.Column:
		return "id", r.ID.Why
	}
	for _, s := range r.More {
		if s.Column == name {
			return "structure", s.Why
		}
	}
	for _, v := range r.With {
		if v.Column == name {
			return "value", v.Why
		}
	}
	if i := slices.IndexFunc(r.Targets, func(t Role) bool { return t.Column == name }); i >= 0 {
		return "target", r.Targets[i].Why
	}
	return "", ""
}

// Words in the names of columns. What is said of a word holds for a name that has it between other words, as
// "HIV_active" has "active".
var (
	idWords = strings.Fields("id ids identifier name names title cid sid cas casrn inchi inchikey iupac num index idx key " +
		"chemblid molid compoundid cmpdid drugid zincid")
	// What was calculated, says how sure a value is, or divides the rows is not to be predicted.
	besideWords = strings.Fields("predicted prediction predictions pred calc calculated calcd computed estimated estimate " +
		"simulated model split fold set subset partition scaffold cluster error err uncertainty std stdev stddev sd sem stderr " +
		"weight mw number count degree area psa tpsa formula comment comments note notes source reference doi year date " +
		"batch plate unit units relation organism type")
	otherWords    = strings.Fields("target assay document organism") // things with an identifier that are no molecules
	measuredWords = strings.Fields("measured experimental experiment expt exp exper observed obs pchembl")
)

// words returns the words of a name in lower case.
func words(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// hasWord reports whether a name has one of some words.
func hasWord(name string, among []string) bool {
	return slices.ContainsFunc(words(name), func(w string) bool { return slices.Contains(among, w) })
}

// roles finds out what the columns are from their names and the values of some rows. Names that the options give
// count first. That a given one does not exist is an error; what says what columns are called here.
func (c *Columns) roles(o Options, what string, structure bool) (Roles, error) {
	var r Roles
	var err error
	if r.Structure = c.Roles.Structure; structure {
		r.Structure, r.More, err = c.structureRoles(o, what)
	} else if o.Rows != nil {
		r.Structure.Part = o.Rows.Structures[0]
	} else if o.With != "" {
		r.Structure.Part = "molecule"
	}
	if err != nil {
		return r, err
	}
	if err = c.rowRoles(&r, o, what); err != nil {
		return r, err
	}
	if r.ID, err = c.idRole(o, what, r.Structure.Column); err != nil {
		return r, err
	}
	if r.Structure.Why == severalStructures {
		r.Others = c.otherStructures(r)
	}
	if o.TargetColumn != "" && !strings.EqualFold(o.TargetColumn, AllTargets) || c.find(o.TargetColumn) != "" {
		r.Targets, err = c.given(o.TargetColumn, what)
		return r, err
	}
	if name := c.find(o.like); name != "" {
		r.Targets = []Role{{Column: name, Why: "the target of the model"}}
		return r, nil
	}
	if o.like != "" { // another column may be something else
		return r, nil
	}
	r.Targets, r.Open = c.targetRoles(r)
	if o.TargetColumn != "" {
		for _, name := range r.Open {
			r.Targets = append(r.Targets, Role{Column: name, Why: "all are asked for"})
		}
		if r.Open = nil; r.Targets == nil {
			return r, fmt.Errorf("no %s can be a target among %s", what, quoteList(c.Names))
		}
	}
	return r, nil
}

// usualRoles returns what formats that are no tables take for identifier and target: what the options name, or a field
// of a usual name.
func (c *Columns) usualRoles(o Options) (r Roles) {
	if i := findColumn(c.Names, wanted(o.IDColumn, idNames)); i >= 0 {
		r.ID = Role{Column: c.Names[i], Why: usualName}
	}
	if i := findColumn(c.Names, wanted(o.TargetColumn, targetNames)); i >= 0 {
		r.Targets = []Role{{Column: c.Names[i], Why: usualName}}
	}
	return r
}

// Suggest returns the roles of the columns by their names and values, for every format.
func (c *Columns) Suggest(o Options) Roles {
	if c.Roles.ID.Column == fileField && len(c.Roles.Targets) > 0 { // a folder of files, whose graphs have identifiers
		return Roles{Targets: c.Roles.Targets, Open: c.Roles.Open}
	}
	if r, err := c.roles(o, "column", false); err == nil {
		return r
	}
	return c.usualRoles(o)
}

// AllTargets as Options.TargetColumn takes every column that may be a target.
const AllTargets = "all"

// given returns the columns of a list of names with commas between them. A name may have commas itself.
func (c *Columns) given(list, what string) ([]Role, error) {
	pieces := strings.Split(list, ",")
	var out []Role
	for i := 0; i < len(pieces); {
		name, next := "", i
		for k := len(pieces); k > i && name == ""; k-- {
			name, next = c.find(strings.TrimSpace(strings.Join(pieces[i:k], ","))), k
		}
		if name == "" {
			return nil, fmt.Errorf("no %s %q among %s", what, strings.TrimSpace(pieces[i]), quoteList(c.Names))
		}
		if slices.ContainsFunc(out, func(r Role) bool { return r.Column == name }) {
			return nil, fmt.Errorf("%s %q is asked for twice", what, name)
		}
		out = append(out, Role{Column: name, Why: "asked for"})
		i = next
	}
	return out, nil
}

// one returns the column that the options name, or the first of the usual names.
func (c *Columns) one(given string, usual []string, what string) (Role, error) {
	if given != "" {
		name := c.find(given)
		if name == "" {
			return Role{}, fmt.Errorf("no %s %q among %s", what, given, quoteList(c.Names))
		}
		return Role{Column: name, Why: "asked for"}, nil
	}
	if i := findColumn(c.Names, usual); i >= 0 {
		return Role{Column: c.Names[i], Why: usualName}, nil
	}
	return Role{}, nil
}

// structureRole finds the column of SMILES strings: by a usual name, by the word "smiles", or as the one whose values
// are such strings, the longest of several.
func (c *Columns) structureRole(what string) (Role, error) {
	r, err := c.one("", smilesNames, what)
	if err != nil || r.Column != "" {
		return r, err
	}
	for _, name := range c.Names {
		if hasWord(name, smilesNames[:1]) {
			return Role{Column: name, Why: `the word "smiles"`}, nil
		}
	}
	most := 0
	for _, name := range c.Names {
		length, good := 0, 0
		for _, v := range c.Values(name) {
			if !Missing(v) && len(v) > 1 && !isWhole(v) && (looksLikeSMILES(v) || looksLikeReaction(v)) {
				length, good = length+len(v), good+1
			}
		}
		if 2*good > len(c.lines) && length > most {
			r, most = Role{Column: name, Why: severalStructures}, length
		}
	}
	if m, err := chem.ParseSMILES(r.Column, 1<<10); err == nil && len(m.Atoms) > 1 {
		return r, fmt.Errorf("no SMILES column among %s; the first line looks like data, want a line with the names of the columns",
			quoteList(c.Names))
	}
	if r.Column == "" {
		return r, fmt.Errorf("no SMILES column among %s", quoteList(c.Names))
	}
	return r, nil
}

// severalStructures is why a column is the structure that is so by its values alone, as others may be.
const severalStructures = "its values are SMILES"

// otherStructures returns further columns most of whose different values are SMILES, some of them with a bond, a branch, a
// ring or a bracket: the name of a class may be a SMILES by chance.
func (c *Columns) otherStructures(taken Roles) (out []string) {
	for _, name := range c.Names {
		if role, _ := taken.of(name); role != "" {
			continue
		}
		seen, good, written := map[string]bool{}, 0, false
		for _, v := range c.Values(name) {
			if Missing(v) || seen[v] {
				continue
			}
			seen[v] = true
			if looksLikeSMILES(v) && !isWhole(v) {
				good++
				written = written || strings.ContainsAny(v, "()[]=#1")
			}
		}
		if 2*good > len(seen) && written {
			out = append(out, name)
		}
	}
	return out
}

// idRole finds the column of identifiers: by a usual name, or by a word where no more than a tenth of it is missing.
func (c *Columns) idRole(o Options, what, structure string) (Role, error) {
	r, err := c.one(o.IDColumn, idNames, what)
	if err != nil || r.Column != "" {
		return r, err
	}
	for _, w := range idWords {
		for _, name := range c.Names {
			if name == structure || !slices.Contains(words(name), w) || hasWord(name, besideWords) || hasWord(name, otherWords) {
				continue
			}
			if 10*c.describe(name).Missing <= len(c.lines) {
				return Role{Column: name, Why: fmt.Sprintf("the word %q", w)}, nil
			}
		}
	}
	return Role{}, nil
}

// targetRoles finds what is to be predicted: a column of a usual name; else one of a word that says that it was measured;
// else the only column of numbers or classes that is left, or all of several columns of 0 and 1. Where several are left,
// they are open.
func (c *Columns) targetRoles(taken Roles) (targets []Role, open []string) {
	var left []Column
	binary := true
	for _, name := range c.Names {
		if role, _ := taken.of(name); role != "" || slices.Contains(taken.Others, name) || hasWord(name, idWords) || hasWord(name, besideWords) {
			continue
		}
		if d := c.describe(name); d.Kind == NumberKind || d.Kind == ClassKind {
			left = append(left, d)
			binary = binary && d.Numeric && d.Kind == ClassKind && d.Range[0] >= 0 && d.Range[1] <= 1
		}
	}
	for _, usual := range targetNames {
		if i := findColumn(c.Names, []string{usual}); i >= 0 {
			if role, _ := taken.of(c.Names[i]); role == "" {
				return []Role{{Column: c.Names[i], Why: usualName}}, nil
			}
		}
		if usual != "active" {
			continue
		}
		for _, d := range left {
			if hasWord(d.Name, []string{usual}) {
				return []Role{{Column: d.Name, Why: fmt.Sprintf("the word %q", usual)}}, nil
			}
		}
	}
	var measured []Role
	for _, d := range left {
		for _, w := range words(d.Name) {
			if slices.Contains(measuredWords, w) {
				measured = append(measured, Role{Column: d.Name, Why: fmt.Sprintf("the word %q", w)})
				break
			}
		}
	}
	switch {
	case len(measured) == 1:
		return measured, nil
	case len(measured) > 1:
		return nil, roleNames(measured)
	case len(left) == 1:
		return []Role{{Column: left[0].Name, Why: "the only column of numbers or classes"}}, nil
	case binary:
		for _, d := range left {
			targets = append(targets, Role{Column: d.Name, Why: "one of the columns of 0 and 1"})
		}
		return targets, nil
	}
	for _, d := range left {
		open = append(open, d.Name)
	}
	return nil, open
}

func roleNames(roles []Role) (names []string) {
	for _, r := range roles {
		names = append(names, r.Column)
	}
	return names
}
