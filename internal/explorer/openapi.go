package explorer

import _ "embed"

// openAPI describes the API (OpenAPI 3.1).
//
//go:embed openapi.json
var openAPI []byte
