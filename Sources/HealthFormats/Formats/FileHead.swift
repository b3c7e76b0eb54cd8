import HealthModel

/// The beginning of a file and what it shows of the file's form: the members of an object, the elements of an array
/// or the columns of a table. The head may end in the middle of any of these.
struct FileHead: Sendable {
  /// The number of bytes of a file that are inspected.
  static let size = 64 << 10

  /// The form of a file, chosen by its first character.
  enum Form: Sendable {
    case object(ObjectHead)
    /// The complete elements, and whether the array ends within the head.
    case array([JSONValue], isEnded: Bool)
    /// The fields of the first row. Text that is not a table is also split at its commas.
    case table([String])
    case other
  }

  let bytes: [UInt8]
  let form: Form

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let first = bytes.first { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }
    form =
      switch first {
      case UInt8(ascii: "{"): .object(ObjectHead(bytes))
      case UInt8(ascii: "["): Self.array(bytes)
      default: Self.columns(bytes).map { .table($0) } ?? .other
      }
  }

  /// The head of the object, or `nil` if the file is not an object.
  var object: ObjectHead? { if case .object(let head) = form { head } else { nil } }

  private static func array(_ bytes: [UInt8]) -> Form {
    var elements: [JSONValue] = []
    do {
      try collect(JSONScanner(source: MemorySource(bytes), path: "", chunkSize: bytes.count), &elements)
      return .array(elements, isEnded: true)
    } catch {
      // The first unreadable element ends the head.
      return .array(elements, isEnded: false)
    }
  }

  private static func collect(_ scanner: consuming JSONScanner, _ elements: inout [JSONValue]) throws {
    try scanner.beginArray()
    while try scanner.nextElement() { elements.append(try scanner.tree(limit: size).value) }
  }

  private static func columns(_ bytes: [UInt8]) -> [String]? {
    var scanner = CSVScanner(source: MemorySource(bytes), path: "", chunkSize: max(1, bytes.count))
    return try? scanner.row(limit: 10_000)?.fields.map(\.text)
  }
}

/// The members of a JSON object as far as the head of its file shows them.
struct ObjectHead: Sendable {
  /// The names of the members, in file order; the value of the last may be cut off.
  private(set) var members: [String] = []
  /// The values of `format` and `resourceType` that are strings.
  private(set) var texts: [String: String] = [:]
  /// The names of the members of `data`, or `nil` if that is not an object.
  private(set) var data: [String]?
  /// The value of `metadata`, if it is complete.
  private(set) var metadata: JSONValue?

  fileprivate init(_ bytes: [UInt8]) {
    try? look(JSONScanner(source: MemorySource(bytes), path: "", chunkSize: bytes.count))
  }

  private mutating func look(_ scanner: consuming JSONScanner) throws {
    try scanner.beginObject()
    while let name = try scanner.nextKey() {
      members.append(name)
      switch name {
      case "format", "resourceType":
        if case .string(let text) = try scanner.tree(limit: 1000).value { texts[name] = text }
      case "data" where try scanner.peek() == UInt8(ascii: "{"):
        data = []
        try scanner.beginObject()
        while let list = try scanner.nextKey() {
          data?.append(list)
          try scanner.skipValue()
        }
      case "metadata": metadata = try scanner.tree(limit: 100_000).value
      default: try scanner.skipValue()
      }
    }
  }
}
