import HealthModel

/// The beginning of a file, and what can be told of its form: the members of an object, the elements of an array, the columns of
/// a table. It ends anywhere, and so may they.
struct FileHead: Sendable {
  /// How much of a file is looked at.
  static let size = 64 << 10

  /// What the first character makes of it.
  enum Form: Sendable {
    case object(ObjectHead)
    /// The elements that are whole, and whether there are no more.
    case array([JSONValue], isEnded: Bool)
    /// The fields of the first row; of what is no table, whatever stands between commas.
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

  /// `nil` of what is no object.
  var object: ObjectHead? { if case .object(let head) = form { head } else { nil } }

  private static func array(_ bytes: [UInt8]) -> Form {
    var elements: [JSONValue] = []
    do {
      try collect(JSONScanner(source: MemorySource(bytes), path: "", chunkSize: bytes.count), &elements)
      return .array(elements, isEnded: true)
    } catch {
      // What cannot be read any further ends the head.
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

/// What the head of a JSON object says of the whole.
struct ObjectHead: Sendable {
  /// In their order; the value of the last may have been cut off.
  private(set) var members: [String] = []
  /// `format` and `resourceType`, where they are texts.
  private(set) var texts: [String: String] = [:]
  /// The names of what `data` holds, if that is an object.
  private(set) var data: [String]?
  /// `metadata`, if it is whole.
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
