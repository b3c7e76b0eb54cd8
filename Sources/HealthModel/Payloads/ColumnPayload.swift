/// A payload that is mostly long arrays of numbers: one column for each field, all in one JSON object with the rest.
package protocol ColumnPayload: SamplePayload {
  /// What is left without the columns.
  associatedtype Head: Codable

  var head: Head { get }

  /// In the order of their UTF-8.
  static var columnNames: [String] { get }

  /// `nil` for a column that is left out.
  func column(_ name: String) -> [Double?]?

  /// `nil` for columns that do not fit together.
  init?(_ head: Head, columns: [String: [Double?]])

  /// Bytes in memory, about.
  var size: Int { get }
}

extension Payload {
  /// `nil` for what is not mostly numbers.
  package var columns: (any ColumnPayload)? {
    switch self {
    case .quantity, .category: nil
    default: content as? any ColumnPayload
    }
  }
}

extension ColumnPayload {
  package static var isLarge: Bool { true }

  /// In little memory beside the numbers; `nil` for a text in any other form than ``coded()`` writes.
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
