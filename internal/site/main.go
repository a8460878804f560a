// Command site builds the documents of the repository as static pages:
//
//	go run . [-root ../..] [-o ../../dist/site]
//
// The README is the first page. The others are CHANGELOG.md, CONTRIBUTING.md, SECURITY.md and every document
// in docs/tutorial, docs/howto, docs/reference and docs/explanation. A page is called by its first
// heading. Within a folder pages stand in the order in which the README first links to them, and
// then by title. The pages need no server and no network, and may stand in any folder.
//
// Every link of every Markdown file in the repository is checked first, to files and to
// headings. So is every document that another file mentions, as docs/reference/formats.md. A link
// to a file that is not a page leads to the repository.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", "../..", "folder of the repository")
	out := flag.String("o", "../../dist/site", "folder for the pages, which is replaced")
	flag.Parse()
	s, err := read(*root)
	if err == nil {
		err = s.build(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s/index.html: %d pages\n", *out, len(s.pages))
}
