/// A payload that consists mostly of long arrays of numbers. Each field is a column; the columns and the remaining
/// members form a single JSON object.
package protocol ColumnPayload: SamplePayload {
  /// The payload without its columns.
  associatedtype Head: Codable

  var head: Head { get }

  /// The names of the columns in the order of their UTF-8.
  static var columnNames: [String] { get }

  /// Returns a column, or `nil` for a column that is left out.
  func column(_ name: String) -> [Double?]?

  /// Creates a payload from its head and columns, or returns `nil` if the columns do not fit together.
  init?(_ head: Head, columns: [String: [Double?]])

  /// The approximate size in memory, in bytes.
  var size: Int { get }
}

extension Payload {
  /// The payload as a ``ColumnPayload``, or `nil` for other kinds.
  package var columns: (any ColumnPayload)? {
    switch self {
    case .quantity, .category: nil
    default: content as? any ColumnPayload
    }
  }
}

extension ColumnPayload {
  package static var isLarge: Bool { true }

  /// Decodes a payload using little memory beyond the numbers. Returns `nil` for text in any other form than
  /// ``coded()`` writes.
  init?(columns json: String) {
    guard let (head, columns) = NumberColumns.decode(json, names: Set(Self.columnNames)),
      head.utf8.count < 1 << 20, let head = try? CanonicalJSON.decode(Head.self, head)
    else { return nil }
    self.init(head, columns: columns)
  }

  static func payload(columns json: String) -> Payload? { Self(columns: json)?.payload }

  package init(coded: CodedPayload) throws {
    let json = coded.json ?? ""
    self = try Self(columns: json) ?? CanonicalJSON.decode(Self.self, json)
  }

  package func coded() throws -> CodedPayload {
    CodedPayload(
      json: try NumberColumns.encode(
        head, columns: Self.columnNames.compactMap { name in column(name).map { (name, $0) } }))
  }
}
