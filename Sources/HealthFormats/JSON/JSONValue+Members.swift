import HealthModel

/// Access to what a value is made of; `nil`, or nothing, where it is of another kind.
extension JSONValue {
  /// The member of an object.
  subscript(name: String) -> JSONValue? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  /// The elements of an array.
  var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }

  /// The text of a string; numbers are none.
  var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The number, whole or not; a string is none.
  var double: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .number(let number): number
    default: nil
    }
  }
}
