import Foundation
import HealthModel

/// A validator for the part of JSON Schema (draft 2020-12) that docs/reference/schemas uses. An unknown keyword is an
/// error, so that every keyword of the schemas is checked.
public struct JSONSchema: Sendable {
  public struct Unreadable: Error, CustomStringConvertible {
    public var description: String
  }

  private let documents: [String: JSONValue]

  /// Loads all schemas of a directory, which may refer to one another.
  public init(directory: String) throws {
    var documents: [String: JSONValue] = [:]
    for file in try FileManager.default.contentsOfDirectory(atPath: directory) where file.hasSuffix(".json") {
      let data = try Data(contentsOf: URL(fileURLWithPath: directory).appendingPathComponent(file))
      documents[file] = try JSONDecoder().decode(JSONValue.self, from: data)
    }
    self.documents = documents
  }

  /// The file names of the schemas, such as `error.json`.
  public var names: [String] { documents.keys.sorted() }

  /// Returns the ways in which `text`, a single JSON value, violates the schema.
  public func violations(of text: some StringProtocol, against name: String) throws -> [String] {
    try violations(of: try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)), against: name)
  }

  public func violations(of value: JSONValue, against name: String) throws -> [String] {
    try check(value, Place(file: name, schema: try document(name)), at: "$")
  }

  /// Returns the defects of a schema itself: unknown keywords, and objects and required properties that it doesn't
  /// describe.
  ///
  /// - Throws: ``Unreadable`` if a `$ref` can't be resolved.
  public func problems(in name: String) throws -> [String] {
    try problems(of: Place(file: name, schema: try document(name)), at: name)
  }

  // MARK: Places

  private struct Place {
    var file: String
    var schema: JSONValue

    func with(_ schema: JSONValue) -> Place { Place(file: file, schema: schema) }
  }

  private func document(_ name: String) throws -> JSONValue {
    guard let document = documents[name] else { throw Unreadable(description: "there is no schema \(name)") }
    return document
  }

  /// Resolves a reference such as `other.json#/$defs/name`, in which either part may be omitted.
  private func resolve(_ reference: JSONValue, from place: Place) throws -> Place {
    guard case .string(let text) = reference else { throw Unreadable(description: "$ref is no text") }
    let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let file = parts[0].isEmpty ? place.file : String(parts[0])
    var schema = try document(file)
    for key in parts.count > 1 ? parts[1].split(separator: "/") : [] {
      guard case .object(let object) = schema, let next = object[String(key)] else {
        throw Unreadable(description: "\(text) leads nowhere from \(place.file)")
      }
      schema = next
    }
    return Place(file: file, schema: schema)
  }

  private func keywords(_ place: Place) throws -> [String: JSONValue] {
    guard case .object(let keywords) = place.schema else { throw Unreadable(description: "a schema is an object") }
    return keywords
  }

  // MARK: Values

  private func check(_ value: JSONValue, _ place: Place, at path: String) throws -> [String] {
    let keywords = try keywords(place)
    var found: [String] = []
    for (keyword, argument) in keywords.sorted(by: { $0.key < $1.key }) {
      let rule = Rule(keyword: keyword, argument: argument, place: place, keywords: keywords)
      found += try check(value, rule, at: path)
    }
    return found
  }

  private struct Rule {
    var keyword: String
    var argument: JSONValue
    var place: Place
    var keywords: [String: JSONValue]
  }

  private func check(_ value: JSONValue, _ rule: Rule, at path: String) throws -> [String] {
    func unless(_ isRight: Bool) -> [String] {
      isRight ? [] : ["\(path): \(Self.text(value)) is against \(rule.keyword) \(Self.text(rule.argument))"]
    }
    switch (rule.keyword, rule.argument, value) {
    case ("$schema", _, _), ("title", _, _), ("description", _, _), ("$defs", _, _): return []
    case ("$ref", _, _): return try check(value, try resolve(rule.argument, from: rule.place), at: path)
    case ("type", .string(let name), _): return unless(Self.isOfType(name, value))
    case ("const", _, _): return unless(value == rule.argument)
    case ("enum", .array(let values), _): return unless(values.contains(value))
    case ("oneOf", .array(let schemas), _):
      let results = try schemas.map { try check(value, rule.place.with($0), at: path) }
      let matches = results.count(where: \.isEmpty)
      if matches == 1 { return [] }
      return ["\(path): \(matches) of oneOf: \(results.map { $0.first ?? "-" }.joined(separator: "; "))"]
    case ("not", _, _): return unless(try !check(value, rule.place.with(rule.argument), at: path).isEmpty)
    case ("properties", .object(let properties), .object(let members)):
      return try properties.sorted { $0.key < $1.key }.flatMap { name, schema in
        try members[name].map { try check($0, rule.place.with(schema), at: "\(path).\(name)") } ?? []
      }
    case ("required", .array(let names), .object(let members)):
      return names.filter { if case .string(let name) = $0 { members[name] == nil } else { true } }
        .map { "\(path): \(Self.text($0)) is missing" }
    case ("additionalProperties", _, .object(let members)):
      var known: Set<String> = []
      if case .object(let properties) = rule.keywords["properties"] { known = Set(properties.keys) }
      return try members.sorted { $0.key < $1.key }.filter { !known.contains($0.key) }.flatMap { name, member in
        rule.argument == .bool(false)
          ? ["\(path): \(name) is in no schema"]
          : try check(member, rule.place.with(rule.argument), at: "\(path).\(name)")
      }
    case ("items", _, .array(let elements)):
      return try elements.enumerated().flatMap {
        try check($0.element, rule.place.with(rule.argument), at: "\(path)[\($0.offset)]")
      }
    case ("minItems", .integer(let least), .array(let elements)): return unless(elements.count >= least)
    case ("minLength", .integer(let least), .string(let text)): return unless(text.unicodeScalars.count >= least)
    case ("pattern", .string(let pattern), .string(let text)):
      // Which keeps what it has compiled; a Regex of text is compiled each time.
      return unless(text.range(of: pattern, options: .regularExpression) != nil)
    case ("minimum", .integer(let bound), .integer(let number)): return unless(number >= bound)
    case ("minimum", .integer(let bound), .number(let number)): return unless(number >= Double(bound))
    case ("maximum", .integer(let bound), .integer(let number)): return unless(number <= bound)
    case ("maximum", .integer(let bound), .number(let number)): return unless(number <= Double(bound))
    // Each is about values of one type only.
    case (let keyword, _, _) where Self.keywords.contains(keyword): return []
    default: throw Unreadable(description: "\(rule.place.file) uses \(rule.keyword), which is not known here")
    }
  }

  private static func isOfType(_ name: String, _ value: JSONValue) -> Bool {
    switch (name, value) {
    case ("object", .object), ("array", .array), ("string", .string), ("boolean", .bool), ("null", .null),
      ("integer", .integer), ("number", .integer), ("number", .number):
      true
    case ("integer", .number(let number)): number == number.rounded()
    default: false
    }
  }

  private static func text(_ value: JSONValue) -> String {
    let data = try? JSONEncoder().encode(value)
    return String(decoding: data ?? Data(), as: UTF8.self).prefix(200).description
  }

  // MARK: Schemas

  /// The keywords whose argument is a schema.
  private static let holders: Set = ["items", "not", "additionalProperties"]
  private static let dictionaries: Set = ["properties", "$defs"]
  private static let keywords = holders.union(dictionaries).union([
    "$schema", "title", "description", "$ref", "type", "const", "enum", "oneOf", "required", "minItems", "minLength",
    "pattern", "minimum", "maximum",
  ])

  private func problems(of place: Place, at path: String) throws -> [String] {
    let keywords = try keywords(place)
    var found = keywords.keys.filter { !Self.keywords.contains($0) }.map { "\(path): \($0) is not known here" }
    if keywords["type"] == .string("object"), keywords["additionalProperties"] == nil {
      found.append("\(path): an object without additionalProperties is open to anything")
    }
    if case .array(let names)? = keywords["required"], case .object(let properties)? = keywords["properties"] {
      found += names.filter { if case .string(let name) = $0 { properties[name] == nil } else { true } }
        .map { "\(path): \(Self.text($0)) is required and not described" }
    }
    if let reference = keywords["$ref"] { _ = try resolve(reference, from: place) }
    for (keyword, argument) in keywords {
      switch argument {
      case .object where Self.holders.contains(keyword):
        found += try problems(of: place.with(argument), at: "\(path)/\(keyword)")
      case .object(let schemas) where Self.dictionaries.contains(keyword):
        for (name, schema) in schemas {
          found += try problems(of: place.with(schema), at: "\(path)/\(keyword)/\(name)")
        }
      case .array(let schemas) where keyword == "oneOf":
        for schema in schemas { found += try problems(of: place.with(schema), at: "\(path)/oneOf") }
      default: continue
      }
    }
    return found.sorted()
  }
}
