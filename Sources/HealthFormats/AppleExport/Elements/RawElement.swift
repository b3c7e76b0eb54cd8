import HealthModel

/// An element of the file, unchanged.
struct RawElement {
  var name: String
  /// The line of the opening tag.
  var line: Int
  var attributes = AttributeList()
  var children: [RawElement] = []
  /// The index of a `WorkoutRoute` among the routes of its workout; `nil` for other elements.
  var route: Int?

  /// The element as JSON: `{"element":…,"attributes":{…},"children":[…]}`.
  var json: JSONValue {
    var object: [String: JSONValue] = ["element": .string(name), "attributes": attributes.json]
    if !children.isEmpty { object["children"] = .array(children.map(\.json)) }
    return .object(object)
  }
}

/// A list of attributes in the order of the file. Each handler takes those it understands. Attributes that cannot be
/// read stay in the list, and are therefore kept unchanged.
struct AttributeList {
  private(set) var rest: [(name: String, value: String)] = []

  var isEmpty: Bool { rest.isEmpty }

  mutating func append(_ name: String, _ value: String) { rest.append((name, value)) }

  func value(of name: String) -> String? { rest.first { $0.name == name }?.value }

  mutating func take(_ name: String) -> String? {
    guard let index = rest.firstIndex(where: { $0.name == name }) else { return nil }
    return rest.remove(at: index).value
  }

  mutating func takeNumber(_ name: String) -> Double? {
    guard let text = value(of: name), let number = DecimalReader.read(text) else { return nil }
    _ = take(name)
    return number.value
  }

  mutating func takeDate(_ name: String, _ keys: inout KeyReader) -> Timestamp? {
    guard let text = value(of: name), let date = keys.date(text) else { return nil }
    _ = take(name)
    return date
  }

  /// Takes `duration` and `durationUnit`, and returns the duration in seconds. Apple prints minutes.
  mutating func takeDuration() -> Double? {
    guard let text = value(of: "duration"), let number = DecimalReader.read(text)?.value,
      let seconds = UnitConversion.convert(number, from: value(of: "durationUnit") ?? "min", to: "s")
    else { return nil }
    _ = take("duration")
    _ = take("durationUnit")
    return seconds
  }

  /// The attributes as JSON. If a name occurs twice, the first attribute counts.
  var json: JSONValue {
    .object(Dictionary(rest.map { ($0.name, .string($0.value)) }, uniquingKeysWith: { first, _ in first }))
  }
}
