import Foundation
import TestSupport
import Testing

/// Tests of ``JSONSchema``, on which the tests of the schemas rely.
@Suite struct JSONSchemaTests {
  private func schemas(_ files: [String: String]) throws -> JSONSchema {
    let directory = try TemporaryDirectory()
    for (name, text) in files {
      try text.write(toFile: directory.path(name), atomically: true, encoding: .utf8)
    }
    return try JSONSchema(directory: directory.path)
  }

  @Test(arguments: [
    (#"{"type":"integer","minimum":1,"maximum":3}"#, ["1", "3"], ["0", "4", "1.5", "\"1\"", "true", "null"]),
    (#"{"type":"number","minimum":0}"#, ["0", "0.5"], ["-0.5", "\"0\""]),
    (#"{"type":"string","minLength":2,"pattern":"^[a-z]+$"}"#, [#""ab""#], [#""a""#, #""aB""#, "1"]),
    (#"{"type":"boolean"}"#, ["true"], ["0", "null"]), (#"{"type":"null"}"#, ["null"], ["0", "false"]),
    (#"{"const":"a"}"#, [#""a""#], [#""b""#]), (#"{"enum":[1,"a"]}"#, ["1", #""a""#], ["2"]),
    (#"{"type":"array","items":{"type":"integer"},"minItems":1}"#, ["[1,2]"], ["[]", "[1,\"a\"]", "{}"]),
    (
      #"{"type":"object","properties":{"a":{"type":"integer"},"b":{}},"required":["a"],"additionalProperties":false}"#,
      [#"{"a":1}"#, #"{"a":1,"b":null}"#], ["{}", #"{"a":"1"}"#, #"{"a":1,"c":1}"#, "[]"]
    ),
    (#"{"type":"object","additionalProperties":{"type":"integer"}}"#, ["{}", #"{"x":1}"#], [#"{"x":"1"}"#]),
    (#"{"oneOf":[{"type":"integer"},{"type":"number"},{"type":"string"}]}"#, ["1.5", #""a""#], ["1", "null"]),
    (#"{"not":{"enum":["a"]}}"#, [#""b""#], [#""a""#]),
    (##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"integer"}}}"##, ["1"], [#""1""#]),
    (##"{"$ref":"other.json#/$defs/n"}"##, ["true"], ["1"]),
  ])
  func valuesAreJudged(_ schema: String, _ right: [String], _ wrong: [String]) throws {
    let schemas = try schemas([
      "it.json": schema, "other.json": ##"{"$defs":{"n":{"$ref":"#/$defs/m"},"m":{"type":"boolean"}}}"##,
    ])
    #expect(try schemas.problems(in: "it.json") == [])
    for text in right { #expect(try schemas.violations(of: text, against: "it.json") == [], "\(text)") }
    for text in wrong { #expect(try schemas.violations(of: text, against: "it.json") != [], "\(text)") }
  }

  @Test(arguments: [
    #"{"type":"object"}"#, #"{"properties":{"a":{"type":"object"}}}"#, #"{"maxItems":1}"#,
    #"{"items":{"typ":"string"}}"#,
    #"{"oneOf":[{"anyOf":[]}]}"#, #"{"$defs":{"a":{"format":"date"}}}"#,
    #"{"properties":{"a":{}},"required":["b"]}"#,
  ])
  func whatASchemaLeavesOpenIsAProblem(_ schema: String) throws {
    #expect(try schemas(["it.json": schema]).problems(in: "it.json") != [])
  }

  @Test func whatCannotBeReadIsAnError() throws {
    for schema in [#"{"maxItems":1}"#, #"{"$ref":"none.json"}"#, ##"{"$ref":"#/$defs/x"}"##, "[]"] {
      let schemas = try schemas(["it.json": schema])
      #expect(throws: (any Error).self) { try schemas.violations(of: "[]", against: "it.json") }
    }
    #expect(throws: (any Error).self) { try schemas([:]).violations(of: "1", against: "it.json") }
    #expect(throws: (any Error).self) { try schemas(["it.json": "{}"]).violations(of: "1 2", against: "it.json") }
  }
}
